#pragma once
#define XXH_INLINE_ALL
#include <xxhash.h>

// Swift cannot call XXH3's own functions: they are macros, or return a struct that differs by platform. It can call the two functions
// below.
typedef struct { uint64_t low, high; } cxxhash_pair;

static inline uint64_t cxxhash_64(const void *bytes, size_t count, uint64_t seed) {
    return XXH3_64bits_withSeed(bytes, count, seed);
}

static inline cxxhash_pair cxxhash_128(const void *bytes, size_t count, uint64_t seed) {
    XXH128_hash_t hash = XXH3_128bits_withSeed(bytes, count, seed);
    return (cxxhash_pair){hash.low64, hash.high64};
}
