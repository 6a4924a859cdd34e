/* The types of the steps of a network configuration list, as libcni reads them: `plugins` of the list, `type` of each object. A text that another reader could
   understand otherwise is refused: Go ignores the case of keys, takes the last of two equal ones, and reads escapes in keys. The list's name must be one that CNI
   allows: since 1.3 libcni takes further steps from the directory of that name beside the file, and `../` would lead to files that the daemon writes itself. */
#include "launcher.h"

enum { DEPTH_MAX = 64 };

struct text {
    const char *at, *end;
};

static void skip_space(struct text *text) {
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\t' || *text->at == '\n' || *text->at == '\r')) text->at++;
}

/* Takes the character, after any space. */
static bool take(struct text *text, char wanted) {
    skip_space(text);
    if (text->at == text->end || *text->at != wanted) return false;
    text->at++;
    return true;
}

/* Takes a string. `plain`: it has printable ASCII characters without escapes only. */
static bool take_string(struct text *text, const char **from, size_t *size, bool *plain) {
    if (!take(text, '"')) return false;
    *from = text->at;
    *plain = true;
    for (; text->at < text->end && *text->at != '"'; text->at++) {
        unsigned char byte = (unsigned char)*text->at;
        if (byte < 0x20) return false;
        if (byte >= 0x7f || byte == '\\') *plain = false;
        if (byte == '\\' && ++text->at == text->end) return false;
    }
    if (text->at == text->end) return false;
    *size = (size_t)(text->at++ - *from);
    return true;
}

static bool take_word(struct text *text) {
    const char *from = text->at;
    while (text->at < text->end && ((*text->at >= 'a' && *text->at <= 'z') || (*text->at >= '0' && *text->at <= '9') || *text->at == '-' || *text->at == '+' ||
                                    *text->at == '.' || *text->at == 'E'))
        text->at++;
    return text->at > from;
}

static bool take_value(struct text *text, int depth) {
    const char *from;
    size_t size;
    bool plain;
    skip_space(text);
    if (text->at == text->end || depth == DEPTH_MAX) return false;
    if (*text->at == '"') return take_string(text, &from, &size, &plain);
    bool is_object = *text->at == '{';
    if (!is_object && *text->at != '[') return take_word(text);
    text->at++;
    if (take(text, is_object ? '}' : ']')) return true;
    do {
        if (is_object && !(take_string(text, &from, &size, &plain) && take(text, ':'))) return false;
        if (!take_value(text, depth + 1)) return false;
    } while (take(text, ','));
    return take(text, is_object ? '}' : ']');
}

static char lower(char byte) { return byte >= 'A' && byte <= 'Z' ? (char)(byte + 'a' - 'A') : byte; }

static bool is_key(const char *from, size_t size, const char *wanted) {
    if (strlen(wanted) != size) return false;
    for (size_t i = 0; i < size; i++)
        if (lower(from[i]) != wanted[i]) return false;
    return true;
}

static bool take_type(struct text *text, struct steps *steps) {
    const char *from;
    size_t size;
    bool plain;
    if (!take_string(text, &from, &size, &plain) || !plain || size > TYPE_MAX || steps->count == STEPS_MAX) return false;
    memcpy(steps->types[steps->count], from, size);
    steps->types[steps->count++][size] = 0;
    return true;
}

struct member {
    const char *key;
    bool (*take)(struct text *, struct steps *);
};

/* Takes an object that has each of these members once. */
static bool take_object(struct text *text, const struct member *members, unsigned count, struct steps *steps) {
    unsigned found = 0;
    const char *from;
    size_t size;
    bool plain;
    if (!take(text, '{')) return false;
    do {
        if (!take_string(text, &from, &size, &plain) || !plain || !take(text, ':')) return false;
        unsigned i = 0;
        while (i < count && !is_key(from, size, members[i].key)) i++;
        if (i < count && (found >> i & 1) != 0) return false;
        if (i < count) found |= 1u << i;
        if (i < count ? !members[i].take(text, steps) : !take_value(text, 1)) return false;
    } while (take(text, ','));
    return take(text, '}') && found == (1u << count) - 1;
}

/* CNI specification: a name begins with a letter or a digit; letters, digits, `_`, `.` and `-` follow. */
static bool take_name(struct text *text, struct steps *steps) {
    const char *from;
    size_t size;
    bool plain, valid = take_string(text, &from, &size, &plain) && size > 0;
    (void)steps;
    for (size_t i = 0; valid && i < size; i++) {
        char byte = lower(from[i]);
        valid = (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || (i > 0 && (byte == '_' || byte == '.' || byte == '-'));
    }
    return valid;
}

static bool take_steps(struct text *text, struct steps *steps) {
    static const struct member members[] = {{"type", take_type}};
    if (!take(text, '[')) return false;
    do
        if (!take_object(text, members, 1, steps)) return false;
    while (take(text, ','));
    return take(text, ']');
}

bool read_steps(const char *from, size_t size, struct steps *steps) {
    struct text text = {.at = from, .end = from + size};
    *steps = (struct steps){0};
    static const struct member members[] = {{"plugins", take_steps}, {"name", take_name}};
    bool read = take_object(&text, members, sizeof members / sizeof *members, steps);
    skip_space(&text);
    return read && text.at == text.end;
}

bool has_step(const struct steps *steps, const char *type) {
    for (size_t i = 0; i < steps->count; i++)
        if (strcmp(steps->types[i], type) == 0) return true;
    return false;
}
