/* Compares the functions of `bare/` with the libc's on random inputs. `bare-check SEED` prints the first difference and exits with 1.
   The sources of `bare/` are compiled with their functions' names changed (bare.long.test.ts). */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAKEN(result, name, parameters) result bare_##name parameters;
TAKEN(void *, memcpy, (void *, const void *, size_t))
TAKEN(void *, memmove, (void *, const void *, size_t))
TAKEN(void *, memset, (void *, int, size_t))
TAKEN(int, memcmp, (const void *, const void *, size_t))
TAKEN(void *, memchr, (const void *, int, size_t))
TAKEN(size_t, strlen, (const char *))
TAKEN(int, strcmp, (const char *, const char *))
TAKEN(int, strncmp, (const char *, const char *, size_t))
TAKEN(char *, strchr, (const char *, int))
TAKEN(char *, strrchr, (const char *, int))
TAKEN(size_t, strspn, (const char *, const char *))
TAKEN(size_t, strcspn, (const char *, const char *))
TAKEN(char *, strcpy, (char *, const char *))
TAKEN(int, snprintf, (char *, size_t, const char *, ...))
TAKEN(char *, strerror, (int))
TAKEN(void *, malloc, (size_t))
TAKEN(void *, realloc, (void *, size_t))
TAKEN(void, free, (void *))

enum { TURNS = 20000, TEXT_SIZE = 64, BLOCKS = 64 };

static uint64_t state;

static uint32_t chance(uint32_t below) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (uint32_t)(state >> 20) % below;
}

static _Noreturn void differs(const char *what, int turn) {
    printf("%s differs in turn %d\n", what, turn);
    exit(1);
}

#define SAME(what, condition) \
    if (!(condition)) differs(what, turn)

static int sign(int value) { return (value > 0) - (value < 0); }

/* Few different letters make similar texts. */
static void make_text(char *text, size_t max) {
    size_t size = chance((uint32_t)max);
    for (size_t i = 0; i < size; i++) text[i] = "ab:/\xff"[chance(5)];
    text[size] = 0;
}

static void check_texts(int turn) {
    char one[TEXT_SIZE], other[TEXT_SIZE], mine[2 * TEXT_SIZE], theirs[2 * TEXT_SIZE];
    make_text(one, TEXT_SIZE);
    make_text(other, chance(2) ? TEXT_SIZE : 4);
    size_t size = chance(TEXT_SIZE);
    int byte = "ab:/\xff\0c"[chance(7)];
    SAME("strlen", bare_strlen(one) == strlen(one));
    SAME("strcmp", sign(bare_strcmp(one, other)) == sign(strcmp(one, other)));
    SAME("strncmp", sign(bare_strncmp(one, other, size)) == sign(strncmp(one, other, size)));
    SAME("strchr", bare_strchr(one, byte) == strchr(one, byte));
    SAME("strrchr", bare_strrchr(one, byte) == strrchr(one, byte));
    SAME("strspn", bare_strspn(one, other) == strspn(one, other));
    SAME("strcspn", bare_strcspn(one, other) == strcspn(one, other));
    SAME("memchr", bare_memchr(one, byte, strlen(one)) == memchr(one, byte, strlen(one)));
    size_t both = strlen(one) < strlen(other) ? strlen(one) : strlen(other);
    SAME("memcmp", sign(bare_memcmp(one, other, both)) == sign(memcmp(one, other, both)));
    for (size_t i = 0; i < sizeof mine; i++) mine[i] = theirs[i] = (char)chance(256);
    size_t from = chance(TEXT_SIZE), to = chance(TEXT_SIZE);
    SAME("memmove", bare_memmove(mine + to, mine + from, size) == mine + to);
    memmove(theirs + to, theirs + from, size);
    bare_memset(mine + from, byte, size / 2);
    memset(theirs + from, byte, size / 2);
    bare_memcpy(mine, one, strlen(one));
    memcpy(theirs, one, strlen(one));
    SAME("memset, memcpy or memmove", memcmp(mine, theirs, sizeof mine) == 0);
    SAME("strcpy", strcmp(bare_strcpy(mine, other), other) == 0);
}

static void check_formats(int turn) {
    char text[TEXT_SIZE], mine[3 * TEXT_SIZE], theirs[3 * TEXT_SIZE];
    make_text(text, TEXT_SIZE);
    size_t capacity = chance(sizeof mine);
    int small = (int)(chance(2) ? chance(1000) : chance(UINT32_MAX)) * (chance(2) ? 1 : -1), precision = (int)chance(TEXT_SIZE);
    unsigned long long large = (unsigned long long)chance(UINT32_MAX) << chance(33);
    memset(mine, '#', sizeof mine);
    memset(theirs, '#', sizeof theirs);
#define FORMAT(...) SAME("snprintf " #__VA_ARGS__, bare_snprintf(mine, capacity, __VA_ARGS__) == snprintf(theirs, capacity, __VA_ARGS__) && memcmp(mine, theirs, sizeof mine) == 0)
    FORMAT("%s/%.*s%%:%s", text, precision, text, "");
    FORMAT("%d %u", small, (unsigned)small);
    FORMAT("%lld:%llu %zu", -(long long)(large >> 1), large, (size_t)large);
    unsigned code = chance(0x20000);
    FORMAT("\\u%04x %x", code, (unsigned)small);
}

/* Each block is aligned and keeps its content until it is freed. */
static void check_heap(int turn) {
    static struct {
        uint8_t *data;
        size_t size;
        uint8_t mark;
    } blocks[BLOCKS], *block;
    block = &blocks[chance(BLOCKS)];
    for (size_t i = 0; i < block->size; i += block->size / 16 + 1) SAME("what a block holds", block->data[i] == block->mark);
    size_t size = chance(8) == 0 ? chance(300000) : chance(2000), kept = block->size < size ? block->size : size;
    if (chance(4) == 0) {
        bare_free(block->data);
        block->data = NULL;
        block->size = 0;
        return;
    }
    block->data = bare_realloc(block->data, size);
    SAME("malloc", block->data != NULL && (uintptr_t)block->data % 16 == 0);
    for (size_t i = 0; i < kept; i += kept / 16 + 1) SAME("what realloc keeps", block->data[i] == block->mark);
    block->size = size;
    block->mark = (uint8_t)chance(256);
    memset(block->data, block->mark, size);
}

int main(int argc, char **argv) {
    state = 0x9e3779b97f4a7c15u ^ (argc > 1 ? strtoull(argv[1], NULL, 10) : 0);
    for (int turn = 0; turn < TURNS; turn++) {
        check_texts(turn);
        check_formats(turn);
        check_heap(turn);
    }
    int named = 0;
    for (int turn = 1; turn < 134; turn++) {
        const char *name = bare_strerror(turn);
        if (strncmp(name, "Unknown error", 13) == 0) continue;
        named++;
        SAME("strerror", strcmp(name, strerror(turn)) == 0);
    }
    if (bare_malloc(SIZE_MAX) != NULL) differs("malloc of too much", 0);
    if (named < 50) differs("the number of named errors", named);
    printf("same\n");
    return 0;
}
