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

FAST uint64_t cmachine_may_equal_texts(const void *page, const uint32_t *cells, uint32_t last, cmachine_text text) {
    uint32_t places[64], words[64];
    uint8_t flags[64];
    for (int index = 0; index < 64; index++) {
        uint32_t place = (cells[index] & 0xFFFF) + text.skipped;
        places[index] = place < last ? place : last;
    }
    for (int index = 0; index < 64; index++) memcpy(&words[index], (const char *)page + places[index], 4);
    for (int index = 0; index < 64; index++) {
        uint32_t isEqual = ((words[index] & text.mask) == text.word) | (places[index] == last);
        flags[index] = isEqual & (cells[index] >> 16 == text.mark);
    }
    return gather(flags);
}

/// Returns a word with the least significant `count` bytes.
static inline uint64_t low_bytes(uint64_t word, uint32_t count) {
    return count >= 8 ? word : word & (((uint64_t)1 << (8 * count)) - 1);
}

uint32_t cmachine_text_codes(
    const void *page, const uint32_t *cells, uint32_t last, uint64_t rows, cmachine_groups groups, int32_t *codes) {
    while (rows) {
        uint32_t index = (uint32_t)__builtin_ctzll(rows);
        uint32_t cell = cells[index], offset = cell & 0xFFFF, count = cell >> 16 & 0xFF;
        if (cell >> 24 != 1 || count > 16 || offset > last) return index;
        cmachine_key key;
        memcpy(&key, (const char *)page + offset, 16);
        key.low = low_bytes(key.low, count);
        key.high = count <= 8 ? 0 : low_bytes(key.high, count - 8);
        key.tag = CMACHINE_TEXT_TAG + count;
        uint64_t place = cmachine_key_hash(key) & groups.mask;
        int32_t code;
        while ((code = groups.places[place]) >= 0) {
            const cmachine_key *known = &groups.keys[code];
            if (!((known->low ^ key.low) | (known->high ^ key.high) | (known->tag ^ key.tag))) break;
            place = (place + 1) & groups.mask;
        }
        if (code < 0) return index;
        codes[index] = code;
        rows &= rows - 1;
    }
    return 64;
}

int cmachine_contains(const void *bytes, size_t count, const void *part, size_t partCount) {
    return memmem(bytes, count, part, partCount) != 0;
}
