#include "cmachine.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

int64_t cmachine_memory_left(void) {
    struct rlimit space, data;
    if (getrlimit(RLIMIT_AS, &space) != 0) space.rlim_cur = RLIM_INFINITY;
    if (getrlimit(RLIMIT_DATA, &data) != 0) data.rlim_cur = RLIM_INFINITY;
    if (space.rlim_cur == RLIM_INFINITY && data.rlim_cur == RLIM_INFINITY) return INT64_MAX;
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0) return INT64_MAX;
    char text[256];
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    if (count <= 0) return INT64_MAX;
    text[count] = 0;
    unsigned long all, private_data;
    // The fields are: size, resident, shared, text, lib, data, dt. All of them are numbers of pages.
    if (sscanf(text, "%lu %*u %*u %*u %*u %lu", &all, &private_data) != 2) return INT64_MAX;
    int64_t page = sysconf(_SC_PAGESIZE), left = INT64_MAX;
    if (space.rlim_cur != RLIM_INFINITY && space.rlim_cur < INT64_MAX) left = (int64_t)space.rlim_cur - (int64_t)all * page;
    if (data.rlim_cur != RLIM_INFINITY && data.rlim_cur < INT64_MAX) {
        int64_t rest = (int64_t)data.rlim_cur - (int64_t)private_data * page;
        if (rest < left) left = rest;
    }
    return left > 0 ? left : 0;
}
