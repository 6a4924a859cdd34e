/* Sends MANY bytes through a stream of the shim (host/shim/stream.c) whose peer reads slowly, and prints the number of bytes that memmove() moved meanwhile. */
#include <stdio.h>

#include "cni-error.h"
#include "stream.h"

enum { MANY = 32 << 20, PIECE = 1 << 16 };

static size_t moved;

/* The linker puts this function in the place of memmove (--wrap). */
void *__real_memmove(void *to, const void *from, size_t size);
void *__wrap_memmove(void *to, const void *from, size_t size);
void *__wrap_memmove(void *to, const void *from, size_t size) {
    moved += size;
    return __real_memmove(to, from, size);
}

_Noreturn void fail(enum cni_code code, const char *remedy, const char *message, ...) {
    fprintf(stderr, "fail %d: %s: %s\n", code, message, remedy);
    abort();
}

int main(void) {
    static uint8_t piece[PIECE];
    struct stream stream = {0};
    size_t got = 0, wrong = 0;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
    stream_open(&stream, ends[0]);
    for (size_t at = 0; at < MANY; at += sizeof at) buffer_append(&stream.out, &at, sizeof at);
    while (got < MANY) {
        stream_flush(&stream);
        ssize_t count = recv(ends[1], piece, sizeof piece, MSG_WAITALL);
        if (count <= 0) return 1;
        for (size_t at = 0; at < (size_t)count; at += sizeof at) wrong += memcmp(piece + at, &(size_t){got + at}, sizeof at) != 0;
        got += (size_t)count;
    }
    stream_flush(&stream);
    printf("%zu %zu %zu\n", moved, wrong, stream.out.size);
    return 0;
}
