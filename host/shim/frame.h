/* Frames and their fields (PROTOCOL.md), without I/O: decoded messages point into the frame's bytes. */
#ifndef PLEXUS_FRAME_H
#define PLEXUS_FRAME_H

#include "common.h"
#include "buffer.h"

enum { FRAME_HEADER = 12, FRAME_VERSION_AT = 4, PROTOCOL_VERSION = 4 };
#define NESTED_CHANNEL 0x80000000u
/* The status of a REPLY of a daemon that has begun nothing, and gives the call back. */
#define NOT_BEGUN 256u

enum frame_type {
    REQUEST = 1, EXECUTED, FOUND, CONTENT, DONE, AGENT,
    REPLY = 16, EXEC, FIND, READ, NETLINK, WELCOME, SYSCTL, PACKET, TAP, ASK, CHANGES, ZONE, LABELLED_TAP, /* from the engine; those below 16 are from the shim */
};

struct frame {
    uint8_t type;
    uint32_t channel, length;
    const uint8_t *payload;
};

enum frame_state { FRAME_WHOLE, FRAME_PART, FRAME_BAD };

/* Reads the first frame in `data`. FRAME_PART: the frame is incomplete; `frame->length` is set once FRAME_HEADER bytes have arrived. */
enum frame_state frame_read(const uint8_t *data, size_t size, uint32_t payload_max, struct frame *frame);

struct bytes {
    const uint8_t *data;
    uint32_t size;
};

/* The fields of all types. Each type uses a part of them. */
struct message {
    struct bytes name, environment, in, out, err, path, second, identity;
    uint32_t status, detail, microseconds, flags, under, deadline_ms, out_cap, err_cap, protocol, index, owner, group, flag;
};

struct bytes text_bytes(const char *text);
/* The bytes after the first `size`, which must exist. */
struct bytes bytes_after(struct bytes bytes, uint32_t size);
struct bytes buffer_bytes(const struct buffer *buffer);

/* Decodes a frame of any type. False: the payload is malformed. */
bool message_decode(const struct frame *frame, struct message *message);

/* Appends the message's frame to `buffer`. */
void message_encode(struct buffer *buffer, enum frame_type type, uint32_t channel, const struct message *message);

#endif
