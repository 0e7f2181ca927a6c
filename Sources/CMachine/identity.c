// `statx` is not a function of POSIX, so it needs this macro.
#define _GNU_SOURCE
#include "cmachine.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

int cmachine_identity(int descriptor, const char *path, cmachine_identity_t *identity) {
    struct statx found;
    const int flags = path == 0 ? AT_EMPTY_PATH : 0;
    // The call does not request the times of the file. If a process queries the times, the next write also updates them, and the sync of
    // that write takes about 50 percent longer.
    int failure;
    // On a network file system, a signal can interrupt the call.
    do {
        failure = statx(path == 0 ? descriptor : AT_FDCWD, path == 0 ? "" : path, flags, STATX_INO | STATX_NLINK, &found);
    } while (failure != 0 && errno == EINTR);
    if (failure != 0) return -1;
    identity->device = makedev(found.stx_dev_major, found.stx_dev_minor);
    identity->number = found.stx_ino;
    identity->nameCount = found.stx_nlink;
    return 0;
}
