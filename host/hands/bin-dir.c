#include "bin-dir.h"
#include "buffer.h"

static const char space[] = " \t\r\n";

/* The closing quote of the string whose inside begins at `text`, or the NUL where it has none. */
static const char *string_end(const char *text) {
    for (; *text != 0 && *text != '"'; text++)
        if (*text == '\\' && text[1] != 0) text++;
    return text;
}

/* What is behind the separator `mark` and the blanks around it; NULL where something else comes. */
static const char *behind(const char *text, char mark) {
    text += strspn(text, space);
    return *text == mark ? text + 1 + strspn(text + 1, space) : NULL;
}

/* The directory is to be absolute, with no separator of CNI_PATH, no escape, nothing that an environment can't hold. */
static void lead(const char *directory, size_t length) {
    const char *path = getenv("CNI_PATH") ?: "";
    struct buffer led = {0};
    if (length == 0 || length >= PATH_MAX || directory[0] != '/') return;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)directory[i] < ' ' || directory[i] == ':' || directory[i] == '\\') return;
    buffer_append(&led, directory, length);
    if (*path != 0) buffer_append(&led, ":", 1);
    buffer_append(&led, path, strlen(path) + 1);
    setenv("CNI_PATH", (const char *)led.data, 1);
    buffer_free(&led);
}

void lead_with_bin_dir(const char *json) {
    static const char key[] = "binDir";
    size_t depth = 0;
    for (const char *at = json; *at != 0; at++) {
        if (*at == '{' || *at == '[') depth++;
        if ((*at == '}' || *at == ']') && depth > 0) depth--;
        if (*at != '"') continue;
        const char *begin = at + 1;
        at = string_end(begin);
        if (*at == 0) return;
        bool named = depth == 1 && (size_t)(at - begin) == strlen(key) && memcmp(begin, key, strlen(key)) == 0;
        const char *value = named ? behind(at + 1, ':') : NULL;
        if (value == NULL || *value != '"') continue;
        const char *end = string_end(value + 1);
        if (*end == '"') lead(value + 1, (size_t)(end - value - 1));
        return;
    }
}
