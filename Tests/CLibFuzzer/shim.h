#pragma once
#include <stddef.h>
#include <stdint.h>

/// Runs the fuzzer with the arguments of the command line until it ends, and returns the exit code.
/// Source: compiler-rt, lib/fuzzer, FuzzerInterface.h and "Using libFuzzer as a library" in its documentation.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
