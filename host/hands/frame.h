/* Frames and their fields (PROTOCOL.md), without I/O: bytes in, pointers into them out. */
#ifndef PLEXUS_FRAME_H
#define PLEXUS_FRAME_H

#include "system.h"
#include "buffer.h"

enum { FRAME_HEADER = 12, PROTOCOL_VERSION = 1 };
#define NESTED_CHANNEL 0x80000000u

enum frame_type {
    REQUEST = 1, EXECUTED, FOUND, CONTENT,
    REPLY = 16, EXEC, FIND, READ,
};

struct frame {
    uint8_t type;
    uint32_t channel, length;
    const uint8_t *payload;
};

enum frame_state { FRAME_WHOLE, FRAME_PART, FRAME_BAD };

/* Looks at the first frame in `data`. PART: `frame->length` is known once FRAME_HEADER bytes are there. */
enum frame_state frame_read(const uint8_t *data, size_t size, uint32_t payload_max, struct frame *frame);

struct bytes {
    const uint8_t *data;
    uint32_t size;
};

/* All field names of all types; a type's decoder sets its own. */
struct message {
    struct bytes name, environment, stdin_data, out, err, path;
    uint32_t status, under, deadline_ms, out_cap, err_cap, cap;
    bool component_first;
};

/* Decodes a frame that hands may get (REQUEST from nested hands, 16-19 from the brain). False: malformed. */
bool message_decode(const struct frame *frame, struct message *message);

/* A frame is written in place: begin, put its fields, end. `begin` answers what `end` needs. */
size_t frame_begin(struct buffer *buffer, enum frame_type type, uint32_t channel);
void put_u32(struct buffer *buffer, uint32_t value);
void put_bytes(struct buffer *buffer, const void *data, size_t size);
void put_text(struct buffer *buffer, const char *text);
void frame_end(struct buffer *buffer, size_t begin);

#endif
