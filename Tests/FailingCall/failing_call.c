// A library that FailingCallTests preloads into the command line: one system call fails with EIO. CAMBIUM_FAILING_CALL names the call,
// CAMBIUM_FAILING_PATH is a part of the path of its file, CAMBIUM_FAILING_NUMBER counts these calls from 1, and CAMBIUM_FAILING_RECORD is
// the file to which the library appends the path of the call that fails.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int count;

// Returns whether this call is the one that fails.
static int fails(const char *call, const char *path) {
    const char *name = getenv("CAMBIUM_FAILING_CALL"), *part = getenv("CAMBIUM_FAILING_PATH");
    if (!name || !part || !path || strcmp(name, call) != 0 || !strstr(path, part)) return 0;
    if (atomic_fetch_add(&count, 1) + 1 != atoi(getenv("CAMBIUM_FAILING_NUMBER"))) return 0;
    int record = syscall(SYS_openat, AT_FDCWD, getenv("CAMBIUM_FAILING_RECORD"), O_WRONLY | O_CREAT | O_APPEND, 0644);
    syscall(SYS_write, record, path, strlen(path));
    syscall(SYS_write, record, "\n", 1);
    syscall(SYS_close, record);
    errno = EIO;
    return 1;
}

static int fails_open(const char *call, int descriptor) {
    char name[64], path[4097];
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    long count = syscall(SYS_readlinkat, AT_FDCWD, name, path, sizeof path - 1);
    path[count > 0 ? count : 0] = 0;
    return fails(call, path);
}

#define REAL(result, name, types) \
    static result(*real) types; \
    if (!real) real = (result(*) types)dlsym(RTLD_NEXT, name)

#define BY_PATH(result, call, types, arguments, path) \
    result call types { REAL(result, #call, types); return fails(#call, path) ? (result)-1 : real arguments; }
#define BY_FILE(result, call, types, arguments) \
    result call types { REAL(result, #call, types); return fails_open(#call, d) ? (result)-1 : real arguments; }

BY_FILE(ssize_t, pread, (int d, void *b, size_t n, off_t o), (d, b, n, o))
BY_FILE(ssize_t, pwrite, (int d, const void *b, size_t n, off_t o), (d, b, n, o))
BY_FILE(int, fstat, (int d, struct stat *s), (d, s))
BY_FILE(int, ftruncate, (int d, off_t n), (d, n))
BY_FILE(int, fdatasync, (int d), (d))
BY_FILE(int, fsync, (int d), (d))
BY_FILE(int, flock, (int d, int o), (d, o))
BY_FILE(int, fallocate, (int d, int m, off_t o, off_t n), (d, m, o, n))
BY_PATH(int, stat, (const char *p, struct stat *s), (p, s), p)
BY_PATH(int, lstat, (const char *p, struct stat *s), (p, s), p)
BY_PATH(int, mkdir, (const char *p, mode_t m), (p, m), p)
BY_PATH(int, rmdir, (const char *p), (p), p)
BY_PATH(int, unlink, (const char *p), (p), p)
BY_PATH(int, rename, (const char *p, const char *q), (p, q), p)
BY_PATH(int, link, (const char *p, const char *q), (p, q), p)

int posix_fallocate(int d, off_t o, off_t n) {
    REAL(int, "posix_fallocate", (int, off_t, off_t));
    return fails_open("posix_fallocate", d) ? EIO : real(d, o, n);
}
int statx(int d, const char *p, int f, unsigned m, struct statx *s) {
    REAL(int, "statx", (int, const char *, int, unsigned, struct statx *));
    return (*p ? fails("statx", p) : fails_open("statx", d)) ? -1 : real(d, p, f, m, s);
}
void *mmap(void *a, size_t n, int p, int f, int d, off_t o) {
    REAL(void *, "mmap", (void *, size_t, int, int, int, off_t));
    return d >= 0 && fails_open("mmap", d) ? MAP_FAILED : real(a, n, p, f, d, o);
}
DIR *fdopendir(int d) {
    REAL(DIR *, "fdopendir", (int));
    return fails_open("fdopendir", d) ? NULL : real(d);
}
struct dirent *readdir(DIR *d) {
    REAL(struct dirent *, "readdir", (DIR *));
    return fails_open("readdir", dirfd(d)) ? NULL : real(d);
}
char *realpath(const char *p, char *b) {
    REAL(char *, "realpath", (const char *, char *));
    return fails("realpath", p) ? NULL : real(p, b);
}
int open(const char *p, int f, ...) {
    va_list rest;
    va_start(rest, f);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    REAL(int, "open", (const char *, int, ...));
    return fails("open", p) ? -1 : real(p, f, mode);
}
