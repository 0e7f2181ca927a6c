#pragma once
#include <stddef.h>
#include <stdint.h>

/// CRC-32C (Castagnoli, reflected 0x82F63B78) of `count` bytes, going on from `crc`; 0 to begin with.
uint32_t cchecksum_crc32c(uint32_t crc, const void *bytes, size_t count);
/// The same without the processor's instruction, for a test that compares the two.
uint32_t cchecksum_crc32c_portable(uint32_t crc, const void *bytes, size_t count);
