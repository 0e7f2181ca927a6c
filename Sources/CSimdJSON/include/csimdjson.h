#pragma once
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

enum {
    CSIMDJSON_NULL = 0, CSIMDJSON_FALSE = 1, CSIMDJSON_TRUE = 2, CSIMDJSON_NUMBER = 3, CSIMDJSON_STRING = 4,
    CSIMDJSON_ARRAY = 5, CSIMDJSON_OBJECT = 6
};

enum {
    CSIMDJSON_OK = 0, CSIMDJSON_EMPTY, CSIMDJSON_TOO_DEEP, CSIMDJSON_UNEXPECTED, CSIMDJSON_ESCAPE, CSIMDJSON_CONTROL,
    CSIMDJSON_UNCLOSED_STRING, CSIMDJSON_UTF8, CSIMDJSON_BAD_NUMBER, CSIMDJSON_BAD_LITERAL, CSIMDJSON_TRAILING,
    CSIMDJSON_DUPLICATE_KEY, CSIMDJSON_MEMORY, CSIMDJSON_NO_KEY, CSIMDJSON_NO_COLON, CSIMDJSON_NO_COMMA, CSIMDJSON_UNCLOSED,
    CSIMDJSON_SURROGATE
};

/// A token: a value of the document, or a key of an object. The tokens are in document order. The members of an object are keys (strings)
/// and values in turn.
typedef struct {
    /// The kind in the low 8 bits. Bit 8 is set if a string has escapes, so that its bytes are in the string buffer.
    uint32_t kind;
    /// The number of bytes of a string or number, elements of an array, or members of an object.
    uint32_t count;
    /// The position of the first byte in the source or in the string buffer. For an array or object, the position of its bracket.
    uint32_t offset;
    /// The index of the token that follows this value and its contents.
    uint32_t next;
} csimdjson_token;

typedef struct csimdjson_parser csimdjson_parser;

csimdjson_parser *csimdjson_create(void);
void csimdjson_destroy(csimdjson_parser *parser);
/// Parses one document and checks all of it. `*tokens` and `*strings` are valid until the next call. Returns a CSIMDJSON_ code. If the code
/// is an error, `*position` is the byte offset of the mistake.
int csimdjson_parse(csimdjson_parser *parser, const uint8_t *bytes, size_t count, uint32_t depth_max,
                    const csimdjson_token **tokens, size_t *token_count, const uint8_t **strings, size_t *position);

#ifdef __cplusplus
}
#endif
