#include "buffer.h"
#include "cni-error.h"

enum { KEPT_ROOM = 64 << 10 }; /* an empty buffer with more room than this is freed */

void buffer_reserve(struct buffer *buffer, size_t more) {
    if (buffer->room - buffer->size >= more) return;
    size_t room = buffer->size + more;
    if (room < buffer->room * 2) room = buffer->room * 2;
    uint8_t *data = realloc(buffer->data, room);
    if (data == NULL) fail(CNI_TRY_LATER, "Free memory on the node, then repeat the call.", "no memory for a buffer of %zu bytes", room);
    buffer->data = data;
    buffer->room = room;
}

void buffer_append(struct buffer *buffer, const void *data, size_t size) {
    if (size == 0) return;
    buffer_reserve(buffer, size);
    memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
}

void buffer_drop_front(struct buffer *buffer, size_t size) {
    buffer->size -= size;
    if (buffer->size == 0 && buffer->room > KEPT_ROOM) buffer_free(buffer);
    else if (size > 0 && buffer->size > 0) memmove(buffer->data, buffer->data + size, buffer->size);
}

void buffer_free(struct buffer *buffer) {
    free(buffer->data);
    *buffer = (struct buffer){0};
}
