// The first stage of simdjson finds where tokens begin, and checks UTF-8. This file replaces the second stage of simdjson, which keeps
// neither the text of numbers nor the offsets of tokens. Cambium needs both.
#include "csimdjson.h"
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <simdjson.h>
#include <vector>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

static_assert(offsetof(csimdjson_token, count) == 4 && offsetof(csimdjson_token, offset) == 8 &&
                  offsetof(csimdjson_token, next) == 12 && sizeof(csimdjson_token) == 16,
              "JSONTokens.swift reads tokens by these offsets");

struct csimdjson_parser {
    std::unique_ptr<simdjson::internal::dom_parser_implementation> stage;
    size_t capacity = 0;
    // The vector has at least as many elements as the first stage found tokens. The first `token_count` elements are in use.
    std::vector<csimdjson_token> tokens;
    uint32_t token_count = 0;
    std::vector<uint8_t> strings;
    std::vector<uint32_t> open;
    std::vector<uint32_t> keys;
};

namespace {

struct Walk {
    csimdjson_parser &parser;
    const uint8_t *bytes;
    uint32_t count;
    // Whether strings may have escapes. If so, the parser must search for the end of each string. Otherwise, the position of the next token
    // shows where the string ends.
    bool hasEscapes;
    size_t position = 0;

    int fail(int code, size_t at) {
        position = at;
        return code;
    }

    const uint8_t *text(const csimdjson_token &token) const {
        return (token.kind >> 8 ? parser.strings.data() : bytes) + token.offset;
    }

    bool isEqual(uint32_t a, uint32_t b) const {
        const auto &left = parser.tokens[a], &right = parser.tokens[b];
        return left.count == right.count && memcmp(text(left), text(right), left.count) == 0;
    }

    // Whether all keys differ in a number computed from their length, first byte and last byte. If this number differs for all keys of an
    // object, as in most objects, the keys need not be compared pairwise.
    bool differAtSight() const {
        uint64_t seen = 0;
        for (uint32_t key : parser.keys) {
            const auto &token = parser.tokens[key];
            const uint8_t *bytes = text(token);
            uint32_t mark = token.count == 0 ? 0 : token.count * 7 + bytes[0] * 3 + bytes[token.count - 1];
            uint64_t bit = uint64_t(1) << (mark & 63);
            if (seen & bit) return false;
            seen |= bit;
        }
        return true;
    }

    // Returns the first key of an object that equals an earlier key, or 0 if all keys differ.
    uint32_t duplicateKey(uint32_t object) {
        auto &keys = parser.keys;
        keys.clear();
        uint32_t end = parser.token_count;
        for (uint32_t key = object + 1; key < end; key = parser.tokens[key + 1].next) keys.push_back(key);
        if (keys.size() <= 12) {
            if (differAtSight()) return 0;
            for (size_t i = 1; i < keys.size(); i++)
                for (size_t j = 0; j < i; j++)
                    if (isEqual(keys[i], keys[j])) return keys[i];
            return 0;
        }
        std::sort(keys.begin(), keys.end(), [this](uint32_t a, uint32_t b) {
            const auto &left = parser.tokens[a], &right = parser.tokens[b];
            if (left.count != right.count) return left.count < right.count;
            int order = memcmp(text(left), text(right), left.count);
            return order != 0 ? order < 0 : a < b;
        });
        uint32_t first = 0;
        for (size_t i = 1; i < keys.size(); i++)
            if (isEqual(keys[i - 1], keys[i]) && (first == 0 || keys[i] < first)) first = keys[i];
        return first;
    }

    // Returns the position of a token in the source. `starts` also contains separators and closing brackets, which are not tokens.
    size_t sourceOffset(uint32_t token, const uint32_t *starts) const {
        while (true) {
            uint8_t c = bytes[*starts];
            if (c != ',' && c != ':' && c != '}' && c != ']' && token-- == 0) return *starts;
            starts++;
        }
    }

    void push(uint32_t kind, uint32_t length, uint32_t offset) {
        uint32_t place = parser.token_count++;
        parser.tokens[place] = {kind, length, offset, place + 1};
    }

    static int hex(uint8_t c) {
        if (c >= '0' && c <= '9') return c - '0';
        if (c >= 'a' && c <= 'f') return c - 'a' + 10;
        if (c >= 'A' && c <= 'F') return c - 'A' + 10;
        return -1;
    }

    int32_t unit(uint32_t at) const {
        if (count - at < 4) return -1;
        int32_t value = 0;
        for (int i = 0; i < 4; i++) {
            int digit = hex(bytes[at + i]);
            if (digit < 0) return -1;
            value = value << 4 | digit;
        }
        return value;
    }

    void encode(uint32_t scalar) {
        auto &out = parser.strings;
        if (scalar < 0x80) {
            out.push_back(scalar);
        } else if (scalar < 0x800) {
            out.push_back(0xC0 | scalar >> 6);
            out.push_back(0x80 | (scalar & 63));
        } else if (scalar < 0x10000) {
            out.push_back(0xE0 | scalar >> 12);
            out.push_back(0x80 | (scalar >> 6 & 63));
            out.push_back(0x80 | (scalar & 63));
        } else {
            out.push_back(0xF0 | scalar >> 18);
            out.push_back(0x80 | (scalar >> 12 & 63));
            out.push_back(0x80 | (scalar >> 6 & 63));
            out.push_back(0x80 | (scalar & 63));
        }
    }

    // Returns the position of the first quote or backslash from `at` on, or `count` if there is no such byte.
    uint32_t quoteOrBackslash(uint32_t at) const {
#if defined(__SSE2__)
        const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
        while (count - at >= 16) {
            const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i *>(bytes + at));
            const int hits = _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, backslash)));
            if (hits != 0) return at + static_cast<uint32_t>(__builtin_ctz(hits));
            at += 16;
        }
#endif
        while (at < count && bytes[at] != '"' && bytes[at] != '\\') at++;
        return at;
    }

    // Returns the position of the quote that closes the string opened at `start`, or `count` if there is no such quote. In a document
    // without escapes, the quote is the last byte before the next token, apart from white space.
    uint32_t closingQuote(uint32_t start, uint32_t next) const {
        uint32_t at = next - 1;
        while (at > start && bytes[at] != '"') at--;
        return at > start ? at : count;
    }

    // Adds the string whose opening quote is at `start`. `next` is the next position that the first stage found.
    int string(uint32_t start, uint32_t next) {
        uint32_t at = hasEscapes ? quoteOrBackslash(start + 1) : closingQuote(start, next);
        if (at < count && bytes[at] == '"') {
            push(CSIMDJSON_STRING, at - start - 1, start + 1);
            return CSIMDJSON_OK;
        }
        auto &out = parser.strings;
        size_t begin = out.size();
        uint32_t plain = start + 1;
        while (at < count && bytes[at] != '"') {
            if (bytes[at] != '\\') {
                at++;
                continue;
            }
            out.insert(out.end(), bytes + plain, bytes + at);
            if (at + 1 >= count) return fail(CSIMDJSON_UNCLOSED_STRING, start);
            uint32_t escape = at;
            uint8_t c = bytes[at + 1];
            at += 2;
            switch (c) {
            case '"': case '\\': case '/': out.push_back(c); break;
            case 'b': out.push_back('\b'); break;
            case 'f': out.push_back('\f'); break;
            case 'n': out.push_back('\n'); break;
            case 'r': out.push_back('\r'); break;
            case 't': out.push_back('\t'); break;
            case 'u': {
                int32_t first = unit(at);
                if (first < 0) return fail(CSIMDJSON_ESCAPE, escape);
                if (first >= 0xDC00 && first < 0xE000) return fail(CSIMDJSON_SURROGATE, escape);
                at += 4;
                uint32_t scalar = first;
                if (first >= 0xD800 && first < 0xDC00) {
                    if (count - at < 6 || bytes[at] != '\\' || bytes[at + 1] != 'u') return fail(CSIMDJSON_SURROGATE, escape);
                    int32_t second = unit(at + 2);
                    if (second < 0) return fail(CSIMDJSON_ESCAPE, escape);
                    if (second < 0xDC00 || second >= 0xE000) return fail(CSIMDJSON_SURROGATE, escape);
                    scalar = 0x10000 + ((first - 0xD800) << 10 | (second - 0xDC00));
                    at += 6;
                }
                encode(scalar);
                break;
            }
            default: return fail(CSIMDJSON_ESCAPE, escape);
            }
            plain = at;
        }
        if (at >= count) return fail(CSIMDJSON_UNCLOSED_STRING, start);
        out.insert(out.end(), bytes + plain, bytes + at);
        push(CSIMDJSON_STRING | 1 << 8, static_cast<uint32_t>(out.size() - begin), static_cast<uint32_t>(begin));
        return CSIMDJSON_OK;
    }

    static bool isDigit(uint8_t c) { return c >= '0' && c <= '9'; }

    // Whether a byte ends a number or a word. A quote ends neither, because the first stage does not report the start of a string that
    // directly follows a number or a word.
    static bool endsToken(uint8_t c) {
        return c == ',' || c == '}' || c == ']' || c == ':' || c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '{' || c == '[';
    }

    uint8_t at(uint32_t index) const { return index < count ? bytes[index] : ' '; }

    int number(uint32_t start) {
        uint32_t end = start;
        if (at(end) == '-') end++;
        if (at(end) == '0') {
            end++;
        } else {
            if (!isDigit(at(end))) return fail(CSIMDJSON_BAD_NUMBER, start);
            while (isDigit(at(end))) end++;
        }
        if (at(end) == '.') {
            end++;
            if (!isDigit(at(end))) return fail(CSIMDJSON_BAD_NUMBER, start);
            while (isDigit(at(end))) end++;
        }
        if (at(end) == 'e' || at(end) == 'E') {
            end++;
            if (at(end) == '+' || at(end) == '-') end++;
            if (!isDigit(at(end))) return fail(CSIMDJSON_BAD_NUMBER, start);
            while (isDigit(at(end))) end++;
        }
        if (!endsToken(at(end))) return fail(CSIMDJSON_BAD_NUMBER, start);
        push(CSIMDJSON_NUMBER, end - start, start);
        return CSIMDJSON_OK;
    }

    int literal(uint32_t start, const char *word, uint32_t length, uint32_t kind) {
        if (count - start < length || memcmp(bytes + start, word, length) != 0 || !endsToken(at(start + length)))
            return fail(CSIMDJSON_BAD_LITERAL, start);
        push(kind, length, start);
        return CSIMDJSON_OK;
    }

    int scalar(uint32_t start, uint32_t next) {
        switch (bytes[start]) {
        case '"': return string(start, next);
        case 't': return literal(start, "true", 4, CSIMDJSON_TRUE);
        case 'f': return literal(start, "false", 5, CSIMDJSON_FALSE);
        case 'n': return literal(start, "null", 4, CSIMDJSON_NULL);
        case '-': case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9':
            return number(start);
        default: return fail(CSIMDJSON_UNEXPECTED, start);
        }
    }

    int run(const uint32_t *starts, uint32_t total, uint32_t depthMax) {
        auto &open = parser.open;
        uint32_t index = 0;
        bool wantsValue = true;   // a value, or a key inside an object
        bool mayClose = false;    // directly after an opening bracket
        auto next = [&]() -> uint32_t { return index < total ? starts[index] : count; };
        while (true) {
            if (wantsValue) {
                uint32_t start = next();
                if (start >= count) return fail(open.empty() ? CSIMDJSON_EMPTY : CSIMDJSON_UNCLOSED, open.empty() ? count : parser.tokens[open.back()].offset);
                uint8_t c = bytes[start];
                bool inObject = !open.empty() && parser.tokens[open.back()].kind == CSIMDJSON_OBJECT;
                if (mayClose && c == (inObject ? '}' : ']')) {
                    wantsValue = false;
                    mayClose = false;
                    continue;
                }
                mayClose = false;
                if (inObject) {
                    if (c != '"') return fail(CSIMDJSON_NO_KEY, start);
                    index++;
                    if (int code = string(start, next())) return code;
                    if (next() >= count || bytes[next()] != ':') return fail(CSIMDJSON_NO_COLON, std::min(next(), count));
                    index++;
                    start = next();
                    if (start >= count) return fail(CSIMDJSON_UNCLOSED, parser.tokens[open.back()].offset);
                    c = bytes[start];
                }
                index++;
                if (!open.empty()) parser.tokens[open.back()].count++;
                if (c == '{' || c == '[') {
                    if (open.size() >= depthMax) return fail(CSIMDJSON_TOO_DEEP, start);
                    open.push_back(parser.token_count);
                    push(c == '{' ? CSIMDJSON_OBJECT : CSIMDJSON_ARRAY, 0, start);
                    mayClose = true;
                    continue;
                }
                if (int code = scalar(start, next())) return code;
                wantsValue = false;
                continue;
            }
            if (open.empty()) return index < total ? fail(CSIMDJSON_TRAILING, next()) : CSIMDJSON_OK;
            uint32_t container = open.back();
            uint32_t start = next();
            if (start >= count) return fail(CSIMDJSON_UNCLOSED, parser.tokens[container].offset);
            bool inObject = parser.tokens[container].kind == CSIMDJSON_OBJECT;
            index++;
            if (bytes[start] == ',') {
                wantsValue = true;
            } else if (bytes[start] == (inObject ? '}' : ']')) {
                if (inObject && parser.tokens[container].count > 1) {
                    if (uint32_t key = duplicateKey(container))
                        return fail(CSIMDJSON_DUPLICATE_KEY, sourceOffset(key, starts));
                }
                parser.tokens[container].next = parser.token_count;
                open.pop_back();
            } else {
                return fail(CSIMDJSON_NO_COMMA, start);
            }
        }
    }
};

// Returns the position of the first sequence that is not well-formed UTF-8 (Unicode 15, table 3-7).
size_t illFormed(const uint8_t *bytes, size_t count) {
    size_t at = 0;
    while (at < count) {
        uint8_t lead = bytes[at];
        size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
        if (length == 0 || count - at < length) return at;
        uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
        uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
        if (length > 1 && (bytes[at + 1] < low || bytes[at + 1] > high)) return at;
        for (size_t i = 2; i < length; i++)
            if ((bytes[at + i] & 0xC0) != 0x80) return at;
        at += length;
    }
    return at;
}

// Returns the position of a mistake that the first stage reports without a position. Like the first stage, this function treats a backslash
// outside of strings as an escape.
size_t locate(const uint8_t *bytes, size_t count, int code) {
    if (code == CSIMDJSON_UTF8) return illFormed(bytes, count);
    bool inString = false;
    size_t quote = 0;
    for (size_t at = 0; at < count; at++) {
        uint8_t c = bytes[at];
        if (inString && c < 0x20 && code == CSIMDJSON_CONTROL) return at;
        if (c == '\\') {
            at++;
            if (inString && at < count && bytes[at] < 0x20 && code == CSIMDJSON_CONTROL) return at;
        } else if (c == '"') {
            inString = !inString;
            quote = at;
        }
    }
    return quote;
}

} // namespace

extern "C" csimdjson_parser *csimdjson_create(void) { return new (std::nothrow) csimdjson_parser(); }
extern "C" void csimdjson_destroy(csimdjson_parser *parser) { delete parser; }

extern "C" int csimdjson_parse(csimdjson_parser *parser, const uint8_t *bytes, size_t count, uint32_t depth_max,
                               const csimdjson_token **tokens, size_t *token_count, const uint8_t **strings, size_t *position) {
    *position = 0;
    if (count == 0) return CSIMDJSON_EMPTY;
    if (count >= UINT32_MAX) return CSIMDJSON_MEMORY;
    try {
        if (!parser->stage || parser->capacity < count) {
            size_t capacity = std::max<size_t>(count, 4096);
            parser->stage.reset();
            parser->capacity = 0;
            if (simdjson::get_active_implementation()->create_dom_parser_implementation(capacity, 1024, parser->stage))
                return CSIMDJSON_MEMORY;
            parser->capacity = capacity;
        }
        parser->token_count = 0;
        parser->strings.clear();
        parser->open.clear();
        switch (parser->stage->stage1(bytes, count, simdjson::stage1_mode::regular)) {
        case simdjson::SUCCESS: break;
        case simdjson::EMPTY: return CSIMDJSON_EMPTY;
        case simdjson::UTF8_ERROR: *position = locate(bytes, count, CSIMDJSON_UTF8); return CSIMDJSON_UTF8;
        case simdjson::UNESCAPED_CHARS: *position = locate(bytes, count, CSIMDJSON_CONTROL); return CSIMDJSON_CONTROL;
        case simdjson::UNCLOSED_STRING:
            *position = locate(bytes, count, CSIMDJSON_UNCLOSED_STRING);
            return CSIMDJSON_UNCLOSED_STRING;
        default: return CSIMDJSON_MEMORY;
        }
        if (parser->tokens.size() < parser->stage->n_structural_indexes) parser->tokens.resize(parser->stage->n_structural_indexes);
        const bool hasEscapes = memchr(bytes, '\\', count) != nullptr;
        Walk walk{*parser, bytes, static_cast<uint32_t>(count), hasEscapes};
        int code = walk.run(parser->stage->structural_indexes.get(), parser->stage->n_structural_indexes, depth_max);
        *position = walk.position;
        *tokens = parser->tokens.data();
        *token_count = parser->token_count;
        *strings = parser->strings.data();
        return code;
    } catch (const std::bad_alloc &) {
        return CSIMDJSON_MEMORY;
    }
}
