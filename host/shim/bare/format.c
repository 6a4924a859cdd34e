/* Formatted text (C11 7.21.6), as far as the shim uses it: %s, %.*s, %d, %u, %lld, %llu, %zu, %x with a width that zeros fill, %%. Another conversion
   ends the process; a test compares this list with the sources. */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct text {
    char *data;
    size_t capacity, size; /* `size` counts the whole text, also what does not fit */
};

static void add(struct text *text, const char *data, size_t size) {
    if (text->size + 1 < text->capacity) {
        size_t left = text->capacity - 1 - text->size;
        memcpy(text->data + text->size, data, size < left ? size : left);
    }
    text->size += size;
}

static void add_number(struct text *text, unsigned long long value, bool negative, unsigned base, int width) {
    char digits[24];
    size_t at = sizeof digits;
    do digits[--at] = "0123456789abcdef"[value % base];
    while ((value /= base) > 0 || width > (int)(sizeof digits - at));
    if (negative) digits[--at] = '-';
    add(text, digits + at, sizeof digits - at);
}

int vsnprintf(char *data, size_t capacity, const char *format, va_list list) {
    struct text text = {.data = data, .capacity = capacity};
    while (*format != 0) {
        size_t plain = strcspn(format, "%");
        add(&text, format, plain);
        format += plain;
        if (*format == 0) break;
        format++;
        int precision = -1, width = 0, longs = 0;
        bool is_size = false;
        if (*format == '.' && format[1] == '*') {
            precision = va_arg(list, int);
            format += 2;
        }
        if (*format == '0')
            for (format++; *format >= '0' && *format <= '9'; format++) width = width * 10 + (*format - '0');
        for (; *format == 'l'; format++) longs++;
        if (*format == 'z') {
            is_size = true;
            format++;
        }
        char kind = *format++;
        if (kind == '%') add(&text, "%", 1);
        else if (kind == 's') {
            const char *value = va_arg(list, const char *);
            size_t size = 0;
            while ((precision < 0 || size < (size_t)precision) && value[size] != 0) size++;
            add(&text, value, size);
        } else if (kind == 'd') {
            long long value = longs > 0 ? va_arg(list, long long) : va_arg(list, int);
            add_number(&text, value < 0 ? -(unsigned long long)value : (unsigned long long)value, value < 0, 10, 0);
        } else if (kind == 'u' || kind == 'x') {
            unsigned long long value = longs > 0 || is_size ? va_arg(list, unsigned long long) : va_arg(list, unsigned);
            add_number(&text, value, false, kind == 'x' ? 16 : 10, width);
        } else __builtin_trap();
    }
    if (capacity > 0) data[text.size < capacity ? text.size : capacity - 1] = 0;
    return (int)text.size;
}

int snprintf(char *data, size_t capacity, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int size = vsnprintf(data, capacity, format, list);
    va_end(list);
    return size;
}

int sprintf(char *data, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int size = vsnprintf(data, INT32_MAX, format, list);
    va_end(list);
    return size;
}

int dprintf(int fd, const char *format, ...) {
    static char text[32768]; /* a longer text is cut */
    va_list list;
    va_start(list, format);
    int size = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return (int)write(fd, text, size < (int)sizeof text ? (size_t)size : sizeof text - 1);
}
