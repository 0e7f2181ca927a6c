#pragma once
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct cre2_regex cre2_regex;

/// Compiles a pattern. Null where it is malformed; then `message` (of `capacity` bytes) says why and `offset` where.
cre2_regex *cre2_compile(const char *pattern, size_t count, char *message, size_t capacity, size_t *offset);
/// Whether the whole text matches. Linear in the text.
int cre2_matches_whole(const cre2_regex *regex, const char *text, size_t count);
void cre2_free(cre2_regex *regex);

#ifdef __cplusplus
}
#endif
