#pragma once
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/// CRC-32C (Castagnoli, reflected 0x82F63B78) of `count` bytes, going on from `crc`; 0 to begin with.
uint32_t cmachine_crc32c(uint32_t crc, const void *bytes, size_t count);
/// The same without the processor's instruction, for a test that compares the two.
uint32_t cmachine_crc32c_portable(uint32_t crc, const void *bytes, size_t count);

/// Waits while the word at `address` is `value`, or until woken; may return without a reason.
void cmachine_wait(const uint32_t *address, uint32_t value);
/// Wakes up to `count` threads of this process that wait on the word at `address`.
void cmachine_wake(const uint32_t *address, int count);

static inline uint32_t cmachine_load(const uint32_t *address) { return __atomic_load_n(address, __ATOMIC_ACQUIRE); }
static inline void cmachine_store(uint32_t *address, uint32_t value) { __atomic_store_n(address, value, __ATOMIC_RELEASE); }
/// Replaces `old` by `new`; 0 where another value was there.
static inline int cmachine_exchange(uint32_t *address, uint32_t old, uint32_t new_value) {
    return __atomic_compare_exchange_n(address, &old, new_value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/// A counter of the processor that goes on at a constant rate: some 10 ns to read. Nanoseconds where there is none.
static inline uint64_t cmachine_ticks(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
#endif
}

/// Asks for the cache line at `address`, which will be written soon.
static inline void cmachine_prefetch(const void *address) { __builtin_prefetch(address, 1); }

/// Has the system supply the memory of whole pages that were never touched; does nothing where it cannot.
void cmachine_populate(void *address, size_t count);

/// Has the system begin to write a part of a file to the disk; does nothing where it cannot. A failure is told by the next sync.
void cmachine_begin_sync(int descriptor, int64_t offset, int64_t count);

/// Gives back the room on disk of a part of a file, which reads as zeros then; its length stays. -1, with errno, where that cannot be done.
int cmachine_discard(int descriptor, int64_t offset, int64_t count);

typedef struct {
    uint64_t device;
    uint64_t number;
    /// How many entries of directories lead to the file.
    uint32_t nameCount;
} cmachine_identity_t;

/// Finds out which file a path leads to, or which one is open if the path is null. -1, with errno, if that fails.
int cmachine_identity(int descriptor, const char *path, cmachine_identity_t *identity);

/// A bit for each of 16 numbers at `words` that equals `word`; bit 0 is the first number's.
static inline uint32_t cmachine_equal_lanes(const void *words, uint16_t word) {
#if defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi16((short)word);
    const __m128i low = _mm_cmpeq_epi16(_mm_loadu_si128((const __m128i *)words), wanted);
    const __m128i high = _mm_cmpeq_epi16(_mm_loadu_si128((const __m128i *)words + 1), wanted);
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high));
#else
    const uint16_t *lanes = words;
    uint32_t bits = 0;
    for (int lane = 0; lane < 16; lane++) bits |= (uint32_t)(lanes[lane] == word) << lane;
    return bits;
#endif
}
