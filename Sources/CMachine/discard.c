#define _GNU_SOURCE
#include "cmachine.h"
#include <fcntl.h>

int cmachine_discard(int descriptor, int64_t offset, int64_t count) {
    return fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, count);
}
