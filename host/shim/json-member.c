#include "json-member.h"

static const char space[] = " \t\r\n";

/* The closing quote of the string that begins at `text`, after its opening quote; the NUL where the quote is missing. */
static const char *string_end(const char *text) {
    for (; *text != 0 && *text != '"'; text++)
        if (*text == '\\' && text[1] != 0) text++;
    return text;
}

/* The text after `separator` and the blanks around it; NULL where another character comes. */
static const char *after_separator(const char *text, char separator) {
    text += strspn(text, space);
    return *text == separator ? text + 1 + strspn(text + 1, space) : NULL;
}

const char *json_string_member(const char *json, const char *key, size_t *length) {
    size_t depth = 0;
    for (const char *at = json; *at != 0; at++) {
        if (*at == '{' || *at == '[') depth++;
        if ((*at == '}' || *at == ']') && depth > 0) depth--;
        if (*at != '"') continue;
        const char *begin = at + 1;
        at = string_end(begin);
        if (*at == 0) return NULL;
        bool is_key = depth == 1 && (size_t)(at - begin) == strlen(key) && memcmp(begin, key, strlen(key)) == 0;
        const char *value = is_key ? after_separator(at + 1, ':') : NULL;
        if (value == NULL || *value != '"') continue;
        const char *end = string_end(value + 1);
        *length = (size_t)(end - value - 1);
        return *end == '"' ? value + 1 : NULL;
    }
    return NULL;
}
