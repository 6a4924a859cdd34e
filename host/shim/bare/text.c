/* Memory and strings (C11 7.24). Plain loops for short texts; the processor's own instruction copies memory. */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    void *start = to;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
    return start;
}

void *memmove(void *to, const void *from, size_t size) {
    uint8_t *low = to;
    const uint8_t *source = from;
    if (low <= source || low >= source + size) return memcpy(to, from, size);
    while (size > 0) {
        size--;
        __asm__ volatile("" : : : "memory"); /* otherwise the compiler turns the loop into a call of memmove */
        low[size] = source[size];
    }
    return to;
}

void *memset(void *to, int byte, size_t size) {
    void *start = to;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(byte) : "memory");
    return start;
}

int memcmp(const void *one, const void *other, size_t size) {
    const uint8_t *a = one, *b = other;
    for (; size > 0; a++, b++, size--)
        if (*a != *b) return *a - *b;
    return 0;
}

void *memchr(const void *in, int byte, size_t size) {
    const uint8_t *at = in;
    for (; size > 0; at++, size--)
        if (*at == (uint8_t)byte) return (void *)(uintptr_t)at;
    return NULL;
}

size_t strlen(const char *text) {
    const char *end = text;
    for (; *end != 0; end++) __asm__ volatile(""); /* as above */
    return (size_t)(end - text);
}

int strncmp(const char *one, const char *other, size_t max) {
    for (; max > 0; one++, other++, max--)
        if (*one != *other || *one == 0) return (uint8_t)*one - (uint8_t)*other;
    return 0;
}

int strcmp(const char *one, const char *other) {
    return strncmp(one, other, SIZE_MAX);
}

char *strchr(const char *text, int wanted) {
    for (; *text != (char)wanted; text++)
        if (*text == 0) return NULL;
    return (char *)(uintptr_t)text;
}

char *strrchr(const char *text, int wanted) {
    const char *last = NULL;
    for (;; text++) {
        if (*text == (char)wanted) last = text;
        if (*text == 0) return (char *)(uintptr_t)last;
    }
}

size_t strspn(const char *text, const char *among) {
    size_t size = 0;
    while (text[size] != 0 && strchr(among, text[size]) != NULL) size++;
    return size;
}

size_t strcspn(const char *text, const char *until) {
    size_t size = 0;
    while (text[size] != 0 && strchr(until, text[size]) == NULL) size++;
    return size;
}

char *strcpy(char *restrict to, const char *restrict from) {
    memcpy(to, from, strlen(from) + 1);
    return to;
}
