// `statx` is not POSIX.
#define _GNU_SOURCE
#include "cmachine.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

int cmachine_identity(int descriptor, const char *path, cmachine_identity_t *identity) {
    struct statx found;
    const int flags = path == 0 ? AT_EMPTY_PATH : 0;
    // Not the times: a file whose times were asked for gets new ones with its next write, which makes that write's sync slower by half.
    if (statx(path == 0 ? descriptor : AT_FDCWD, path == 0 ? "" : path, flags, STATX_INO | STATX_NLINK, &found) != 0) return -1;
    identity->device = makedev(found.stx_dev_major, found.stx_dev_minor);
    identity->number = found.stx_ino;
    identity->nameCount = found.stx_nlink;
    return 0;
}
