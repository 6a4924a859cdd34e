/* A byte buffer that grows on demand and frees large memory when it becomes empty. */
#ifndef PLEXUS_BUFFER_H
#define PLEXUS_BUFFER_H

#include "common.h"

struct buffer {
    uint8_t *data;
    size_t size, capacity; /* bytes in use, bytes allocated */
};

/* Ensures the capacity for `more` bytes after the content. Out of memory ends the process with a CNI error. */
void buffer_reserve(struct buffer *buffer, size_t more);
void buffer_append(struct buffer *buffer, const void *data, size_t size);
void buffer_drop_front(struct buffer *buffer, size_t size);
void buffer_free(struct buffer *buffer);

#endif
