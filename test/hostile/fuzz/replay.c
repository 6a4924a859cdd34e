/* Runs a fuzz target without libFuzzer: `replay MUTATIONS FILE…` runs it with each file unchanged, then with MUTATIONS
   random changes of the file, which are the same in every run. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t state = 88172645463325252u;

/* xorshift64 */
static uint32_t below(uint32_t bound) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return bound == 0 ? 0 : (uint32_t)(state >> 32) % bound;
}

static size_t change(uint8_t *data, size_t size, size_t room) {
    static const uint8_t edges[] = {0, 1, 4, 12, 16, 17, 0x7f, 0x80, 0xff};
    size_t at = below((uint32_t)size);
    switch (below(5)) {
    case 0:
        data[at] ^= (uint8_t)(1u << below(8));
        return size;
    case 1:
        data[at] = edges[below(sizeof edges)];
        return size;
    case 2:
        return at + 1; /* truncated */
    case 3:
        if (size == room) return size;
        memmove(data + at + 1, data + at, size - at);
        return size + 1; /* a byte duplicated */
    default:
        memmove(data + at, data + at + 1, size - at - 1);
        return size > 1 ? size - 1 : size; /* a byte removed */
    }
}

int main(int argc, char **argv) {
    static uint8_t seed[1 << 20], data[1 << 20];
    long mutations = argc > 1 ? strtol(argv[1], NULL, 10) : 0, runs = 0;
    for (int i = 2; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (file == NULL) return perror(argv[i]), 1;
        size_t size = fread(seed, 1, sizeof seed, file);
        fclose(file);
        LLVMFuzzerTestOneInput(seed, size);
        runs++;
        for (long n = 0; n < mutations && size > 0; n++, runs++) {
            size_t now = size;
            memcpy(data, seed, size);
            for (uint32_t changes = 1 + below(6); changes > 0; changes--) now = change(data, now, sizeof data);
            LLVMFuzzerTestOneInput(data, now);
        }
    }
    printf("%ld inputs\n", runs);
    return 0;
}
