#include "cre2shim.h"
#include <algorithm>
#include <cstring>
#include <new>
#include <re2/re2.h>

struct cre2_regex {
    RE2 regex;
    cre2_regex(const re2::StringPiece &pattern, const RE2::Options &options) : regex(pattern, options) {}
};

extern "C" cre2_regex *cre2_compile(const char *pattern, size_t count, char *message, size_t capacity, size_t *offset) {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(8 << 20);
    auto *made = new (std::nothrow) cre2_regex(re2::StringPiece(pattern, count), options);
    if (made && made->regex.ok()) return made;
    if (made && capacity > 0) {
        const std::string &error = made->regex.error();
        size_t kept = std::min(capacity - 1, error.size());
        memcpy(message, error.data(), kept);
        message[kept] = 0;
        // RE2 reports the invalid part of the pattern, but not its position.
        const std::string &part = made->regex.error_arg();
        const char *found = part.empty() ? pattern
            : std::search(pattern, pattern + count, part.begin(), part.end());
        *offset = found == pattern + count ? 0 : static_cast<size_t>(found - pattern);
    }
    delete made;
    return nullptr;
}

extern "C" int cre2_matches_whole(const cre2_regex *regex, const char *text, size_t count) {
    return RE2::FullMatch(re2::StringPiece(text, count), regex->regex) ? 1 : 0;
}

extern "C" void cre2_free(cre2_regex *regex) { delete regex; }
