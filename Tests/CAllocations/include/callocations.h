#pragma once
#include <stdint.h>

/// Returns whether allocations are counted: 1, or 0 if a sanitizer has replaced the functions that allocate.
int callocations_are_counted(void);

/// Returns the number of blocks of memory that this thread has requested from the C library so far.
uint64_t callocations_count(void);
