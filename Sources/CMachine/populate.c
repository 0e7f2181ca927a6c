#include "cmachine.h"
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

void cmachine_populate(void *address, size_t count) {
    // Fails on kernels before 5.14, which supply the memory when it is touched.
    (void)madvise(address, count, MADV_POPULATE_WRITE);
}
