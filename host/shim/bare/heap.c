/* Memory in blocks (C11 7.22.3). Small blocks have a power of two as their size and are reused; large blocks return to the kernel at once. */
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "kernel.h"

enum { HEADER = 16, SMALLEST = 5, LARGEST = 16 /* powers of two, with their header */, PIECE = 1 << 17 };

struct block {
    size_t capacity; /* bytes, header included */
    struct block *next; /* the next free block of this size */
};

_Static_assert(sizeof(struct block) <= HEADER, "allocated memory must be aligned to HEADER");

static struct block *free_blocks[LARGEST + 1];
static uint8_t *fresh;
static size_t fresh_left;

static void *mapped(size_t size) {
    long at = kernel(SYS_mmap, 0, size, 3 /* PROT_READ | PROT_WRITE */, 0x22 /* MAP_PRIVATE | MAP_ANONYMOUS */, -1, 0);
    return at < 0 && at >= -4095 ? NULL : (void *)at;
}

static int kind_of(size_t capacity) {
    int kind = SMALLEST;
    while (kind <= LARGEST && (size_t)1 << kind < capacity) kind++;
    return kind;
}

static struct block *small_block(int kind) {
    size_t capacity = (size_t)1 << kind;
    struct block *block = free_blocks[kind];
    if (block != NULL) {
        free_blocks[kind] = block->next;
        return block;
    }
    if (fresh_left < capacity) { /* the rest of the last piece stays unused */
        fresh = mapped(PIECE);
        fresh_left = fresh == NULL ? 0 : PIECE;
        if (fresh == NULL) return NULL;
    }
    block = (struct block *)(void *)fresh;
    fresh += capacity;
    fresh_left -= capacity;
    block->capacity = capacity;
    return block;
}

void *malloc(size_t size) {
    if (size > (size_t)PTRDIFF_MAX - 2 * HEADER) return NULL;
    int kind = kind_of(size + HEADER);
    struct block *block;
    if (kind <= LARGEST) block = small_block(kind);
    else {
        block = mapped(size + HEADER);
        if (block != NULL) block->capacity = size + HEADER;
    }
    return block == NULL ? NULL : (uint8_t *)block + HEADER;
}

void free(void *data) {
    if (data == NULL) return;
    struct block *block = (struct block *)(void *)((uint8_t *)data - HEADER);
    int kind = kind_of(block->capacity);
    if (kind > LARGEST) {
        kernel(SYS_munmap, block, block->capacity);
        return;
    }
    block->next = free_blocks[kind];
    free_blocks[kind] = block;
}

void *memcpy(void *to, const void *from, size_t size);

void *realloc(void *data, size_t size) {
    if (data == NULL) return malloc(size);
    struct block *block = (struct block *)(void *)((uint8_t *)data - HEADER);
    if (size <= block->capacity - HEADER) return data;
    if (kind_of(block->capacity) > LARGEST && size <= (size_t)PTRDIFF_MAX - 2 * HEADER) {
        long at = kernel(SYS_mremap, block, block->capacity, size + HEADER, 1 /* MREMAP_MAYMOVE */);
        if (at < 0 && at >= -4095) return NULL;
        block = (struct block *)at;
        block->capacity = size + HEADER;
        return (uint8_t *)block + HEADER;
    }
    void *larger = malloc(size);
    if (larger == NULL) return NULL;
    memcpy(larger, data, block->capacity - HEADER);
    free(data);
    return larger;
}
