// `memmem` is not POSIX.
#define _GNU_SOURCE
#include "cmachine.h"
#include <string.h>

// The compiler turns these loops into vector instructions. On x86-64 it makes a second version for AVX2, and the linker chooses one.
#if defined(__x86_64__) && defined(__linux__)
#define FAST __attribute__((target_clones("avx2", "default")))
#else
#define FAST
#endif

/// Returns a bit for each of 64 bytes that are 0 or 1.
static inline __attribute__((always_inline)) uint64_t gather(const uint8_t *flags) {
    uint64_t bits = 0;
    for (int index = 0; index < 8; index++) {
        uint64_t eight;
        memcpy(&eight, flags + 8 * index, 8);
        bits |= ((eight * 0x0102040810204080u) >> 56) << (8 * index);
    }
    return bits;
}

#define WITHIN(name, type)                                                                                                                 \
    FAST uint64_t name(const void *values, type low, type high) {                                                                          \
        const type *numbers = values;                                                                                                      \
        uint8_t flags[64];                                                                                                                 \
        for (int index = 0; index < 64; index++) flags[index] = (numbers[index] >= low) & (numbers[index] <= high);                       \
        return gather(flags);                                                                                                              \
    }

WITHIN(cmachine_within_u8, uint8_t)
WITHIN(cmachine_within_u16, uint16_t)
WITHIN(cmachine_within_u32, uint32_t)
WITHIN(cmachine_within_i16, int16_t)
WITHIN(cmachine_within_i32, int32_t)
WITHIN(cmachine_within_i64, int64_t)
WITHIN(cmachine_within_float, float)
WITHIN(cmachine_within_double, double)

int cmachine_contains(const void *bytes, size_t count, const void *part, size_t partCount) {
    return memmem(bytes, count, part, partCount) != 0;
}
