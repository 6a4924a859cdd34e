/* The types of the steps of a network configuration list, as libcni reads them: `plugins` of the list, `type` of each object. A text that another reader could
   understand otherwise is refused: Go ignores the case of keys, takes the last of two equal ones, and reads escapes in keys. The list's name must be one that CNI
   allows: since 1.3 libcni takes further steps from the directory of that name beside the file, and `../` would lead to files that the daemon writes itself. */
#include "launcher.h"

static bool take_type(struct text *text, struct steps *steps) {
    struct text type;
    bool plain;
    if (!take_string(text, &type, &plain) || !plain || type.end - type.at > TYPE_MAX || steps->count == STEPS_MAX) return false;
    size_t size = (size_t)(type.end - type.at);
    memcpy(steps->types[steps->count], type.at, size);
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
    struct text key;
    bool plain;
    if (!take(text, '{')) return false;
    do {
        if (!take_string(text, &key, &plain) || !plain || !take(text, ':')) return false;
        unsigned i = 0;
        while (i < count && !is_key(key, members[i].key)) i++;
        if (i < count && (found >> i & 1) != 0) return false;
        if (i < count) found |= 1u << i;
        if (i < count ? !members[i].take(text, steps) : !take_value(text, 1)) return false;
    } while (take(text, ','));
    return take(text, '}') && found == (1u << count) - 1;
}

/* CNI specification: a name begins with a letter or a digit; letters, digits, `_`, `.` and `-` follow. */
static bool take_name(struct text *text, struct steps *steps) {
    struct text name;
    bool plain, valid = take_string(text, &name, &plain) && name.at < name.end;
    (void)steps;
    for (const char *at = name.at; valid && at < name.end; at++) {
        char byte = *at;
        bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
        valid = is_letter || (byte >= '0' && byte <= '9') || (at > name.at && (byte == '_' || byte == '.' || byte == '-'));
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
