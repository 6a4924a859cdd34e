#include "frame.h"

/* The types of fields. Those from BYTES on begin with their length. */
enum kind { NO_FIELD, NUMBER, FLAG, BYTES, TEXT, ENVIRONMENT };

struct field {
    uint16_t kind, at; /* in struct message */
};

#define FIELD(kind, name) {kind, offsetof(struct message, name)}

/* Each message type's fields in order, up to NO_FIELD. */
static const struct field fields[][8] = {
    [REQUEST] = {FIELD(TEXT, name), FIELD(ENVIRONMENT, environment), FIELD(BYTES, in), FIELD(NUMBER, under)},
    [EXECUTED] = {FIELD(NUMBER, status), FIELD(NUMBER, detail), FIELD(NUMBER, microseconds), FIELD(NUMBER, flags), FIELD(BYTES, out),
                  FIELD(BYTES, err), FIELD(TEXT, path)},
    [FOUND] = {FIELD(NUMBER, status), FIELD(TEXT, path), FIELD(TEXT, identity)},
    [CONTENT] = {FIELD(NUMBER, status), FIELD(BYTES, out)},
    [DONE] = {FIELD(NUMBER, status), FIELD(FLAG, flag), FIELD(BYTES, out)},
    [AGENT] = {FIELD(ENVIRONMENT, environment)},
    [REPLY] = {FIELD(NUMBER, status), FIELD(BYTES, out), FIELD(BYTES, err)},
    [EXEC] = {FIELD(TEXT, name), FIELD(ENVIRONMENT, environment), FIELD(BYTES, in), FIELD(NUMBER, deadline_ms), FIELD(NUMBER, out_cap),
              FIELD(NUMBER, err_cap), FIELD(TEXT, path)},
    [FIND] = {FIELD(TEXT, name), FIELD(FLAG, flag)},
    [READ] = {FIELD(TEXT, path), FIELD(NUMBER, out_cap)},
    [NETLINK] = {FIELD(TEXT, path), FIELD(BYTES, in), FIELD(NUMBER, deadline_ms), FIELD(TEXT, second), FIELD(FLAG, flag), FIELD(NUMBER, protocol)},
    [SYSCTL] = {FIELD(TEXT, path), FIELD(ENVIRONMENT, environment)},
    [PACKET] = {FIELD(TEXT, path), FIELD(NUMBER, index), FIELD(BYTES, in)},
    [TAP] = {FIELD(TEXT, path), FIELD(TEXT, name), FIELD(FLAG, flag), FIELD(NUMBER, owner), FIELD(NUMBER, group)},
    [ASK] = {FIELD(TEXT, path), FIELD(NUMBER, index), FIELD(NUMBER, protocol), FIELD(BYTES, identity), FIELD(BYTES, in), FIELD(NUMBER, deadline_ms),
             FIELD(NUMBER, out_cap)},
    [CHANGES] = {FIELD(NUMBER, deadline_ms)},
    [ZONE] = {FIELD(NUMBER, protocol), FIELD(TEXT, name), FIELD(TEXT, second)},
    [LABELLED_TAP] = {FIELD(TEXT, path), FIELD(TEXT, name), FIELD(FLAG, flag), FIELD(NUMBER, owner), FIELD(NUMBER, group), FIELD(TEXT, second)},
    [WELCOME] = {FIELD(NO_FIELD, name)},
};

static bool is_type(uint8_t type) {
    return type == WELCOME || (type < sizeof fields / sizeof *fields && fields[type][0].kind != NO_FIELD);
}

static uint32_t u32_at(const uint8_t *data) {
    uint32_t wire;
    memcpy(&wire, data, sizeof wire);
    return le32toh(wire);
}

static void append_u32(struct buffer *buffer, uint32_t value) {
    uint32_t wire = htole32(value);
    buffer_append(buffer, &wire, sizeof wire);
}

struct bytes bytes_after(struct bytes bytes, uint32_t size) {
    return (struct bytes){.data = bytes.data + size, .size = bytes.size - size};
}

struct bytes text_bytes(const char *text) {
    return (struct bytes){.data = (const uint8_t *)text, .size = (uint32_t)strlen(text)};
}

struct bytes buffer_bytes(const struct buffer *buffer) {
    return (struct bytes){.data = buffer->data, .size = (uint32_t)buffer->size};
}

enum frame_state frame_read(const uint8_t *data, size_t size, uint32_t payload_max, struct frame *frame) {
    if (size < FRAME_HEADER) return FRAME_PART;
    *frame = (struct frame){.type = data[5], .length = u32_at(data), .channel = u32_at(data + 8), .payload = data + FRAME_HEADER};
    if (data[4] != PROTOCOL_VERSION || data[6] != 0 || data[7] != 0 || frame->length > payload_max) return FRAME_BAD;
    return size - FRAME_HEADER < frame->length ? FRAME_PART : FRAME_WHOLE;
}

/* TEXT becomes a C string, so it must hold no NUL. An ENVIRONMENT is a sequence of NUL-terminated strings. */
static bool is_valid(uint16_t kind, struct bytes value) {
    if (value.size == 0) return true;
    if (kind == TEXT) return memchr(value.data, 0, value.size) == NULL;
    return kind == BYTES || value.data[value.size - 1] == 0;
}

bool message_decode(const struct frame *frame, struct message *message) {
    struct bytes rest = {.data = frame->payload, .size = frame->length};
    *message = (struct message){0};
    if (!is_type(frame->type)) return false;
    for (const struct field *field = fields[frame->type]; field->kind != NO_FIELD; field++) {
        void *place = (char *)message + field->at;
        struct bytes *value = field->kind < BYTES ? NULL : place;
        uint32_t *number = value == NULL ? place : &value->size;
        if (rest.size < sizeof *number) return false;
        *number = u32_at(rest.data);
        rest = bytes_after(rest, sizeof *number);
        if (field->kind == FLAG && *number > 1) return false;
        if (value == NULL) continue;
        if (value->size > rest.size) return false;
        value->data = rest.data;
        rest = bytes_after(rest, value->size);
        if (!is_valid(field->kind, *value)) return false;
    }
    return rest.size == 0;
}

void message_encode(struct buffer *buffer, enum frame_type type, uint32_t channel, const struct message *message) {
    size_t begin = buffer->size;
    append_u32(buffer, 0);
    buffer_append(buffer, (uint8_t[]){PROTOCOL_VERSION, (uint8_t)type, 0, 0}, 4);
    append_u32(buffer, channel);
    for (const struct field *field = fields[type]; field->kind != NO_FIELD; field++) {
        const void *place = (const char *)message + field->at;
        const struct bytes *value = field->kind < BYTES ? NULL : place;
        append_u32(buffer, value == NULL ? *(const uint32_t *)place : value->size);
        if (value != NULL) buffer_append(buffer, value->data, value->size);
    }
    uint32_t length = htole32((uint32_t)(buffer->size - begin - FRAME_HEADER));
    memcpy(buffer->data + begin, &length, sizeof length);
}
