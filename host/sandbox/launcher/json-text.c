/* JSON texts of untrusted programs, read without memory of their own. */
#include "launcher.h"

enum { DEPTH_MAX = 64 };

void skip_space(struct text *text) {
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\t' || *text->at == '\n' || *text->at == '\r')) text->at++;
}

bool take(struct text *text, char wanted) {
    skip_space(text);
    if (text->at == text->end || *text->at != wanted) return false;
    text->at++;
    return true;
}

bool take_string(struct text *text, struct text *string, bool *plain) {
    *string = *text;
    if (!take(text, '"')) return false;
    string->at = text->at;
    *plain = true;
    for (; text->at < text->end && *text->at != '"'; text->at++) {
        unsigned char byte = (unsigned char)*text->at;
        if (byte < 0x20) return false;
        if (byte >= 0x7f || byte == '\\') *plain = false;
        if (byte == '\\' && ++text->at == text->end) return false;
    }
    if (text->at == text->end) return false;
    string->end = text->at++;
    return true;
}

static bool take_word(struct text *text) {
    const char *from = text->at;
    while (text->at < text->end && ((*text->at >= 'a' && *text->at <= 'z') || (*text->at >= '0' && *text->at <= '9') || *text->at == '-' || *text->at == '+' ||
                                    *text->at == '.' || *text->at == 'E'))
        text->at++;
    return text->at > from;
}

bool take_value(struct text *text, int depth) {
    struct text string;
    bool plain;
    skip_space(text);
    if (text->at == text->end || depth == DEPTH_MAX) return false;
    if (*text->at == '"') return take_string(text, &string, &plain);
    bool is_object = *text->at == '{';
    if (!is_object && *text->at != '[') return take_word(text);
    text->at++;
    if (take(text, is_object ? '}' : ']')) return true;
    do {
        if (is_object && !(take_string(text, &string, &plain) && take(text, ':'))) return false;
        if (!take_value(text, depth + 1)) return false;
    } while (take(text, ','));
    return take(text, is_object ? '}' : ']');
}

static char lower(char byte) { return byte >= 'A' && byte <= 'Z' ? (char)(byte + 'a' - 'A') : byte; }

bool is_key(struct text string, const char *wanted) {
    if (strlen(wanted) != (size_t)(string.end - string.at)) return false;
    for (; string.at < string.end; string.at++)
        if (lower(*string.at) != *wanted++) return false;
    return true;
}
