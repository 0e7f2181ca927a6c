#include "cmachine.h"
#include <pthread.h>
#include <string.h>

static uint32_t table[8][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_table(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0x82F63B78u : crc >> 1;
        table[0][byte] = crc;
    }
    for (int slice = 1; slice < 8; slice++)
        for (int byte = 0; byte < 256; byte++)
            table[slice][byte] = table[slice - 1][byte] >> 8 ^ table[0][table[slice - 1][byte] & 255];
}

uint32_t cmachine_crc32c_portable(uint32_t crc, const void *bytes, size_t count) {
    pthread_once(&once, make_table);
    const uint8_t *p = bytes;
    crc = ~crc;
    while (count >= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        word ^= crc;
        crc = table[7][word & 255] ^ table[6][word >> 8 & 255] ^ table[5][word >> 16 & 255] ^ table[4][word >> 24 & 255]
            ^ table[3][word >> 32 & 255] ^ table[2][word >> 40 & 255] ^ table[1][word >> 48 & 255] ^ table[0][word >> 56];
        p += 8;
        count -= 8;
    }
    while (count--) crc = crc >> 8 ^ table[0][(crc ^ *p++) & 255];
    return ~crc;
}

#if defined(__x86_64__)
#include <nmmintrin.h>
__attribute__((target("sse4.2")))
static uint32_t crc32c_hardware(uint32_t crc, const void *bytes, size_t count) {
    const uint8_t *p = bytes;
    uint64_t state = ~crc;
    while (count >= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        state = _mm_crc32_u64(state, word);
        p += 8;
        count -= 8;
    }
    uint32_t rest = (uint32_t)state;
    while (count--) rest = _mm_crc32_u8(rest, *p++);
    return ~rest;
}
#endif

uint32_t cmachine_crc32c(uint32_t crc, const void *bytes, size_t count) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2")) return crc32c_hardware(crc, bytes, count);
#endif
    return cmachine_crc32c_portable(crc, bytes, count);
}
