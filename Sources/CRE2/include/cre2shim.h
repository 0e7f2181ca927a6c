#pragma once
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct cre2_regex cre2_regex;

/// Compiles a pattern. Returns null if the pattern is malformed, and sets `message` (of `capacity` bytes) and the byte `offset` of the
/// mistake.
cre2_regex *cre2_compile(const char *pattern, size_t count, char *message, size_t capacity, size_t *offset);
/// Returns whether the whole text matches. The time is linear in the length of the text.
int cre2_matches_whole(const cre2_regex *regex, const char *text, size_t count);
void cre2_free(cre2_regex *regex);

#ifdef __cplusplus
}
#endif
