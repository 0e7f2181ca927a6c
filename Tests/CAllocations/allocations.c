#include "callocations.h"
#include <stddef.h>

// Functions of a program take precedence over those of the C library, for all code of the process. These ones count the calls of a thread
// and pass them on, so memory comes from the C library as before.

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif

static __thread uint64_t count;

uint64_t callocations_count(void) { return count; }

#ifdef SANITIZED
int callocations_are_counted(void) { return 0; }
#else
int callocations_are_counted(void) { return 1; }

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t number, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) {
    count++;
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count++;
    return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
    count++;
    return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count++;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    count++;
    *block = __libc_memalign(alignment, size);
    return *block || size == 0 ? 0 : 12;  // ENOMEM
}
#endif
