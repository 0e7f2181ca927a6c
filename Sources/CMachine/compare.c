// `memmem` is not a function of POSIX, so it needs this macro.
#define _GNU_SOURCE
#include "cmachine.h"
#include <string.h>

// The compiler turns these loops into vector instructions. On x86-64 it makes a second version for AVX2, and the dynamic linker chooses one
// of the two versions.
#if defined(__x86_64__) && defined(__linux__)
#define FAST __attribute__((target_clones("avx2", "default")))
#else
#define FAST
#endif

/// Returns 64 flags as the bits of one number. Each byte of `flags` is 0 or 1.
static inline __attribute__((always_inline)) uint64_t gather(const uint8_t *flags) {
    uint64_t bits = 0;
#if defined(__SSE2__)
    for (int part = 0; part < 4; part++) {
        const __m128i raised = _mm_slli_epi16(_mm_loadu_si128((const __m128i *)flags + part), 7);
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(raised) << (16 * part);
    }
#else
    for (int index = 0; index < 8; index++) {
        uint64_t eight;
        memcpy(&eight, flags + 8 * index, 8);
        bits |= ((eight * 0x0102040810204080u) >> 56) << (8 * index);
    }
#endif
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

FAST uint64_t cmachine_equal_texts(const void *page, uint32_t size, const uint32_t *cells, const cmachine_text *text) {
    // The fields are read before the loops. Otherwise, the compiler would copy the structure, and would read the copy in units of another
    // size than it was written. The processor would wait for each copy.
    const uint64_t wanted = text->word, mask = text->mask;
    const uint32_t skipped = text->skipped, mark = text->mark;
    uint32_t far = 0;
    uint64_t bits = 0;
    uint8_t flags[64];
    for (int index = 0; index < 64; index++) far = (cells[index] & 0xFFFF) > far ? cells[index] & 0xFFFF : far;
    const char *start = (const char *)page + skipped;
    // Usually, all words that are read lie inside the page, so no word needs a separate check.
    if (far + skipped + 8 <= size) {
        for (int index = 0; index < 64; index++) {
            uint64_t word;
            memcpy(&word, start + (cells[index] & 0xFFFF), 8);
            bits |= (uint64_t)((word & mask) == wanted) << index;
        }
    } else {
        for (int index = 0; index < 64; index++) {
            uint32_t place = (cells[index] & 0xFFFF) + skipped;
            uint64_t word = 0;
            if (place < size) memcpy(&word, (const char *)page + place, size - place < 8 ? size - place : 8);
            bits |= (uint64_t)((word & mask) == wanted) << index;
        }
    }
    for (int index = 0; index < 64; index++) flags[index] = cells[index] >> 16 == mark;
    return bits & gather(flags);
}

/// Returns the number of the group of a key, or a negative number if the group is not known.
static inline __attribute__((always_inline)) int32_t group_of(cmachine_key key, cmachine_groups groups) {
    uint64_t place = cmachine_key_hash(key, groups.seed) & groups.mask;
    int32_t code;
    while ((code = groups.places[place]) >= 0) {
        const cmachine_key *known = &groups.keys[code];
        // Only the keys of texts of less than 8 bytes contain this tag. The high words of such keys are 0 and need no comparison.
        uint64_t difference = (known->low ^ key.low) | (known->tag ^ key.tag);
        if (key.tag != CMACHINE_TEXT_TAG) difference |= known->high ^ key.high;
        if (!difference) break;
        place = (place + 1) & groups.mask;
    }
    return code;
}

uint32_t cmachine_text_codes(
    const void *page, const uint32_t *cells, uint32_t last, uint64_t rows, cmachine_groups groups, int32_t *codes) {
    for (; rows; rows &= rows - 1) {
        uint32_t index = (uint32_t)__builtin_ctzll(rows);
        uint32_t offset = cells[index] & 0xFFFF, count = (cells[index] >> 16) - CMACHINE_TEXT_MARK;
        if ((count > 16) | (offset > last)) return index;
        uint64_t words[2];
        memcpy(words, (const char *)page + offset, 16);
        int32_t code = count < 8 ? group_of(cmachine_text_key(words[0], 0, count < 8 ? count : 0), groups)
                                 : group_of(cmachine_text_key(words[0], words[1], count), groups);
        if (code < 0) return index;
        codes[index] = code;
    }
    return 64;
}

FAST uint64_t cmachine_short_text_codes(
    const void *page, const uint32_t *cells, uint32_t last, cmachine_groups groups, int32_t *codes) {
    uint32_t far = 0, longest = 0;
    uint64_t keys[64], bits = 0;
    uint8_t flags[64];
    for (int index = 0; index < 64; index++) {
        uint32_t offset = cells[index] & 0xFFFF, mark = cells[index] >> 16;
        far = offset > far ? offset : far;
        longest = mark > longest ? mark : longest;
    }
    if ((far > last) | (longest > CMACHINE_TEXT_MARK + 7)) return 0;
    // Each loop does one step for all rows, without branches, so that the processor does the same step for several rows at once.
#pragma clang loop unroll_count(4)
    for (int index = 0; index < 64; index++) {
        uint64_t word;
        memcpy(&word, (const char *)page + (cells[index] & 0xFFFF), 8);
        keys[index] = cmachine_text_key(word, 0, (cells[index] >> 16) & 7).low;
    }
#pragma clang loop unroll_count(4)
    for (int index = 0; index < 64; index++) {
        cmachine_key key = {keys[index], 0, CMACHINE_TEXT_TAG};
        codes[index] = groups.places[cmachine_key_hash(key, groups.seed) & groups.mask];
    }
#pragma clang loop unroll_count(4)
    for (int index = 0; index < 64; index++) bits |= (uint64_t)(groups.short_keys[codes[index] + 1] == keys[index]) << index;
    for (int index = 0; index < 64; index++) flags[index] = cells[index] != 0;
    return bits & gather(flags);
}

int cmachine_contains(const void *bytes, size_t count, const void *part, size_t partCount) {
    return memmem(bytes, count, part, partCount) != 0;
}
