#define _GNU_SOURCE
#include "cmachine.h"
#include <fcntl.h>

void cmachine_begin_sync(int descriptor, int64_t offset, int64_t count) {
#if defined(__linux__)
    sync_file_range(descriptor, offset, count, SYNC_FILE_RANGE_WRITE);
#else
    (void)descriptor, (void)offset, (void)count;
#endif
}
