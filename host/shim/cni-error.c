#include "cni-error.h"
#include "common.h"
#include "json-member.h"

void (*before_exit)(void);

/* Length of the UTF-8 sequence at `text`. 0: it is invalid (overlong, a surrogate, above U+10FFFF, or cut off). */
static size_t utf8_length(const uint8_t *text) {
    static const uint32_t min_code[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = text[0] < 0x80 ? 1 : text[0] >> 5 == 6 ? 2 : text[0] >> 4 == 14 ? 3 : text[0] >> 3 == 30 ? 4 : 0;
    if (length < 2) return length;
    uint32_t code = text[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (text[i] >> 6 != 2) return 0; /* also at the terminating NUL */
        code = code << 6 | (text[i] & 0x3f);
    }
    return code < min_code[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : length;
}

/* Writes `text` to `json` (of `capacity` bytes) at `at`, escaped as the content of a JSON string and cut to fit. Answers the new end. */
static size_t append_escaped(char *json, size_t at, size_t capacity, const char *text) {
    const uint8_t *next = (const uint8_t *)text;
    while (*next != 0 && at + 8 < capacity) {
        size_t length = utf8_length(next);
        if (length == 0) at += (size_t)sprintf(json + at, "\\ufffd");
        else if (*next == '\n') at += (size_t)sprintf(json + at, "\\n");
        else if (*next < 0x20 || *next == 0x7f) at += (size_t)sprintf(json + at, "\\u%04x", *next);
        else {
            if (*next == '"' || *next == '\\') json[at++] = '\\';
            memcpy(json + at, next, length);
            at += length;
        }
        next += length == 0 ? 1 : length;
    }
    json[at] = 0;
    return at;
}

static char version[33] = "1.1.0";

void error_version_from(const char *json) {
    size_t length;
    const char *named = json_string_member(json, "cniVersion", &length);
    if (named == NULL || length == 0 || length >= sizeof version) return;
    for (size_t i = 0; i < length; i++) {
        bool digit = named[i] >= '0' && named[i] <= '9', letter = (named[i] | 0x20) >= 'a' && (named[i] | 0x20) <= 'z';
        if (!digit && (i == 0 || (!letter && strchr("._+-", named[i]) == NULL))) return;
    }
    memcpy(version, named, length);
    version[length] = 0;
}

_Noreturn void fail(enum cni_code code, const char *remedy, const char *message, ...) {
    static char text[8192], json[49152]; /* static: an error may mean that no memory is left */
    const char *command = getenv("CNI_COMMAND");
    if (command != NULL && strcmp(command, "STATUS") == 0 && code != CNI_ENVIRONMENT) code = CNI_NOT_AVAILABLE;
    va_list list;
    va_start(list, message);
    vsnprintf(text, sizeof text, message, list);
    va_end(list);
    size_t at = (size_t)sprintf(json, "{\"cniVersion\":\"%s\",\"code\":%d,\"msg\":\"plexus: ", version, code);
    at = append_escaped(json, at, sizeof json / 2, text);
    at += (size_t)sprintf(json + at, "\",\"details\":\"");
    at = append_escaped(json, at, sizeof json - 8, remedy);
    at += (size_t)sprintf(json + at, "\"}\n");
    leave(1, json, at, NULL, 0);
}

void copy_printable(char *to, size_t capacity, const char *from, size_t size) {
    size_t count = size < capacity - 1 ? size : capacity - 1;
    for (size_t at = 0; at < count; at++) to[at] = from[at] >= ' ' && from[at] < 0x7f ? from[at] : '?';
    to[count] = 0;
}

/* Writes everything, also to a non-blocking pipe. -1: the reader has closed it. */
static int write_all(int fd, const uint8_t *data, size_t size) {
    while (size > 0) {
        ssize_t written = write(fd, data, size);
        if (written >= 0) data += written, size -= (size_t)written;
        else if (errno == EAGAIN) poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
        else if (errno != EINTR) return -1;
    }
    return 0;
}

_Noreturn void leave(int status, const void *out, size_t out_size, const void *err, size_t err_size) {
    void (*hook)(void) = before_exit;
    before_exit = NULL; /* an error within the hook must not run it again */
    if (hook != NULL) hook();
    write_all(STDERR_FILENO, err, err_size);
    if (write_all(STDOUT_FILENO, out, out_size) != 0 && status == 0) status = 1;
    _exit(status);
}
