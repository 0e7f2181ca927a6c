#define _GNU_SOURCE
#include "cmachine.h"
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

void cmachine_wait(const uint32_t *address, uint32_t value) {
    syscall(SYS_futex, address, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

void cmachine_wake(const uint32_t *address, int count) {
    syscall(SYS_futex, address, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}
