#pragma once
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/// Returns the CRC-32C (Castagnoli, reflected 0x82F63B78) of `count` bytes, continued from `crc`, which is 0 at the beginning.
uint32_t cmachine_crc32c(uint32_t crc, const void *bytes, size_t count);
/// Returns the checksum that `cmachine_crc32c` returns, but does not use the processor's CRC instruction. A test compares the two
/// functions.
uint32_t cmachine_crc32c_portable(uint32_t crc, const void *bytes, size_t count);

/// Waits while the word at `address` equals `value`, until another thread wakes this thread. May return although no thread woke this
/// thread.
void cmachine_wait(const uint32_t *address, uint32_t value);
/// Wakes up to `count` threads of this process that are waiting on the word at `address`.
void cmachine_wake(const uint32_t *address, int count);

static inline uint32_t cmachine_load(const uint32_t *address) { return __atomic_load_n(address, __ATOMIC_ACQUIRE); }
static inline void cmachine_store(uint32_t *address, uint32_t value) { __atomic_store_n(address, value, __ATOMIC_RELEASE); }
/// Replaces the word at `address` with `new_value` if the word equals `old`. Otherwise, returns 0 and changes nothing.
static inline int cmachine_exchange(uint32_t *address, uint32_t old, uint32_t new_value) {
    return __atomic_compare_exchange_n(address, &old, new_value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/// Returns a counter of the processor that advances at a constant rate. Reading the counter takes about 10 ns. Returns nanoseconds if the
/// processor has no such counter.
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

/// Prefetches the cache line at `address`. A request for writing would evict the line from the caches of processors that read it.
static inline void cmachine_prefetch(const void *address) { __builtin_prefetch(address, 0); }

/// Makes the kernel supply the memory of whole pages, without changing their content. Touches each page instead of calling `madvise`, which
/// holds the lock of the address space for milliseconds on some machines. Threads that map or unmap memory would wait for this lock.
void cmachine_populate(void *address, size_t count);

/// Returns the number of bytes that the process may still map: the smaller rest of its limits of address space (`RLIMIT_AS`) and of data
/// (`RLIMIT_DATA`). Returns INT64_MAX if the process has neither limit.
int64_t cmachine_memory_left(void);

/// Asks the kernel to begin writing a part of a file to the disk. Does nothing if the kernel cannot do so. If the write fails, the next
/// sync reports the failure.
void cmachine_begin_sync(int descriptor, int64_t offset, int64_t count);

/// Releases the disk space of a part of a file, which then reads as zeros; the length of the file stays. Returns -1 and sets `errno` on
/// failure.
int cmachine_discard(int descriptor, int64_t offset, int64_t count);

typedef struct {
    uint64_t device;
    uint64_t number;
    /// The number of directory entries that lead to the file.
    uint32_t nameCount;
} cmachine_identity_t;

/// Identifies the file that `path` leads to, or the open file if `path` is null. Returns -1 and sets `errno` on failure.
int cmachine_identity(int descriptor, const char *path, cmachine_identity_t *identity);

/// Returns a bit for each of 16 numbers at `words`, set if the number equals `word`. Bit 0 belongs to the first number.
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

/// Each of these functions returns a bit for each of the 64 numbers at `values`. The bit is set if the number is from `low` to `high`. Bit
/// 0 belongs to the first number.
uint64_t cmachine_within_u8(const void *values, uint8_t low, uint8_t high);
uint64_t cmachine_within_u16(const void *values, uint16_t low, uint16_t high);
uint64_t cmachine_within_u32(const void *values, uint32_t low, uint32_t high);
uint64_t cmachine_within_i16(const void *values, int16_t low, int16_t high);
uint64_t cmachine_within_i32(const void *values, int32_t low, int32_t high);
uint64_t cmachine_within_i64(const void *values, int64_t low, int64_t high);
uint64_t cmachine_within_float(const void *values, float low, float high);
uint64_t cmachine_within_double(const void *values, double low, double high);

/// A column of texts has a cell of 32 bits for each row. The upper half of a cell is this number plus the length of the row's text. A cell
/// without a value is 0.
#define CMACHINE_TEXT_MARK 0x100

/// A text with which the texts of cells are compared. `word` has the last bytes of the text, at most 8. In `mask`, all bits of these bytes
/// are 1. `skipped` is the number of bytes of the text before the word. `mark` is the upper half of each cell whose text has the same
/// length.
typedef struct {
    uint64_t word, mask;
    uint32_t skipped, mark;
} cmachine_text;

/// Returns a bit for each of 64 cells. The bit is set if the cell contains the mark of `text` and the cell's value ends with the word of
/// `text`. The lower half of a cell is the offset of the value in the page. The page has `size` bytes, and nothing is read after them.
uint64_t cmachine_equal_texts(const void *page, uint32_t size, const uint32_t *cells, const cmachine_text *text);

/// The key of a group: the value that all rows of the group have.
typedef struct {
    uint64_t low, high, tag;
} cmachine_key;

/// The tag of a text of less than 8 bytes. The length of such a text is the highest byte of `low`. The tag of a longer text is this number
/// plus its length.
#define CMACHINE_TEXT_TAG 4

/// Returns the key of a text of `count` bytes, at most 16. `low` and `high` begin with the bytes of the text. Their other bytes are
/// ignored.
static inline cmachine_key cmachine_text_key(uint64_t low, uint64_t high, uint32_t count) {
    cmachine_key key = {low, 0, CMACHINE_TEXT_TAG};
    if (count < 8) {
        key.low = (low & ~(~(uint64_t)0 << 8 * count)) | (uint64_t)count << 56;
    } else {
        key.high = count == 16 ? high : high & ~(~(uint64_t)0 << 8 * (count - 8));
        key.tag += count;
    }
    return key;
}

/// Two secret numbers that determine the hashes of keys. An attacker who does not know them cannot choose keys that all have the same hash.
typedef struct {
    uint64_t low, high;
} cmachine_seed;

static inline uint64_t cmachine_key_hash(cmachine_key key, cmachine_seed seed) {
    // For a short text, the term with the tag is 0, and the second factor is a constant. So its hash takes one multiplication.
    uint64_t mixed = key.low ^ seed.low ^ (key.tag - CMACHINE_TEXT_TAG) * 0xD6E8FEB86659FD93u;
    unsigned __int128 product = (unsigned __int128)mixed * ((key.high ^ seed.high) | 1);
    return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

/// A hash table of groups with linear probing. `keys` has the key of each group. `places` has a group number for each place of the table,
/// or -1 for a free place. `mask` is the number of places less 1. If key n is a text of less than 8 bytes, `short_keys` has the low word of
/// the key at index n + 1. For other keys, and at index 0, `short_keys` has a word that no such text has.
typedef struct {
    const cmachine_key *keys;
    const uint64_t *short_keys;
    const int32_t *places;
    uint64_t mask;
    cmachine_seed seed;
} cmachine_groups;

/// Writes the group number of each row in `rows` to `codes`. Stops at the first row without a known number: the value of this row is not a
/// text of up to 16 bytes, its offset is after `last`, or its group is not known. Returns the index of this row, or 64 if there is no such
/// row. Bit 0 of `rows` belongs to the first of 64 cells.
uint32_t cmachine_text_codes(const void *page, const uint32_t *cells, uint32_t last, uint64_t rows, cmachine_groups groups, int32_t *codes);

/// Writes a number to `codes` for each of 64 rows. Returns a bit for each row. The bit is set if the cell has a text of less than 8 bytes
/// and the written number is that of the text's group. Returns 0 if a cell has a longer value, or an offset after `last`. Examines only the
/// first place of each hash, so it does not find all groups.
uint64_t cmachine_short_text_codes(const void *page, const uint32_t *cells, uint32_t last, cmachine_groups groups, int32_t *codes);

/// Whether `bytes` contains the bytes of `part`. Complexity: O(count).
int cmachine_contains(const void *bytes, size_t count, const void *part, size_t partCount);

/// Whether the process started with `small-pages` in its variable `CAMBIUM_TEST`. Only builds of script/check define this function.
int cmachine_has_small_pages(void);
