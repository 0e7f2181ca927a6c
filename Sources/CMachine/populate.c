#include "cmachine.h"

// The exchange replaces 0 with 0, which no other thread can notice. So this function may run while another thread is using the memory.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
__attribute__((no_sanitize("thread")))
#endif
#endif
void cmachine_populate(void *address, size_t count) {
    for (size_t offset = 0; offset < count; offset += 4096) {
        unsigned char zero = 0;
        __atomic_compare_exchange_n((unsigned char *)address + offset, &zero, 0, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
}
