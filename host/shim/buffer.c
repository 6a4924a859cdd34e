#include "buffer.h"
#include "cni-error.h"

enum { KEPT_CAPACITY = 64 << 10 }; /* an empty buffer with more capacity than this is freed */

void buffer_reserve(struct buffer *buffer, size_t more) {
    if (buffer->capacity - buffer->size >= more) return;
    size_t capacity = buffer->size + more;
    if (capacity < buffer->capacity * 2) capacity = buffer->capacity * 2;
    uint8_t *data = realloc(buffer->data, capacity);
    if (data == NULL) fail(CNI_TRY_LATER, "Free memory on the node, then repeat the call.", "no memory for a buffer of %zu bytes", capacity);
    buffer->data = data;
    buffer->capacity = capacity;
}

void buffer_append(struct buffer *buffer, const void *data, size_t size) {
    if (size == 0) return;
    buffer_reserve(buffer, size);
    memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
}

void buffer_drop_front(struct buffer *buffer, size_t size) {
    buffer->size -= size;
    if (buffer->size == 0 && buffer->capacity > KEPT_CAPACITY) buffer_free(buffer);
    else if (size > 0 && buffer->size > 0) memmove(buffer->data, buffer->data + size, buffer->size);
}

void buffer_free(struct buffer *buffer) {
    free(buffer->data);
    *buffer = (struct buffer){0};
}
