#include "frame.h"

static uint32_t u32_at(const uint8_t *data) {
    return (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
}

static void set_u32(uint8_t *data, uint32_t value) {
    for (int i = 0; i < 4; i++) data[i] = (uint8_t)(value >> (8 * i));
}

enum frame_state frame_read(const uint8_t *data, size_t size, uint32_t payload_max, struct frame *frame) {
    if (size < FRAME_HEADER) return FRAME_PART;
    *frame = (struct frame){.type = data[5], .length = u32_at(data), .channel = u32_at(data + 8), .payload = data + FRAME_HEADER};
    if (data[4] != PROTOCOL_VERSION || data[6] != 0 || data[7] != 0 || frame->length > payload_max) return FRAME_BAD;
    return size - FRAME_HEADER < frame->length ? FRAME_PART : FRAME_WHOLE;
}

struct fields {
    const uint8_t *data;
    uint32_t left;
    bool bad;
};

static uint32_t take_u32(struct fields *fields) {
    if (fields->left < 4) {
        fields->bad = true;
        return 0;
    }
    fields->data += 4;
    fields->left -= 4;
    return u32_at(fields->data - 4);
}

static bool take_flag(struct fields *fields) {
    uint32_t value = take_u32(fields);
    if (value > 1) fields->bad = true;
    return value == 1;
}

static struct bytes take_bytes(struct fields *fields) {
    uint32_t size = take_u32(fields);
    if (fields->bad || size > fields->left) {
        fields->bad = true;
        return (struct bytes){0};
    }
    fields->data += size;
    fields->left -= size;
    return (struct bytes){.data = fields->data - size, .size = size};
}

/* A row of NUL-terminated strings. */
static struct bytes take_environment(struct fields *fields) {
    struct bytes taken = take_bytes(fields);
    if (taken.size > 0 && taken.data[taken.size - 1] != 0) fields->bad = true;
    return taken;
}

/* Text that becomes a C string must not hide anything behind a NUL. */
static struct bytes take_text(struct fields *fields) {
    struct bytes taken = take_bytes(fields);
    if (taken.size > 0 && memchr(taken.data, 0, taken.size) != NULL) fields->bad = true;
    return taken;
}

bool message_decode(const struct frame *frame, struct message *message) {
    struct fields fields = {.data = frame->payload, .left = frame->length};
    *message = (struct message){0};
    switch (frame->type) {
    case REQUEST:
    case EXEC:
        message->name = take_text(&fields);
        message->environment = take_environment(&fields);
        message->stdin_data = take_bytes(&fields);
        if (frame->type == REQUEST) message->under = take_u32(&fields);
        else message->deadline_ms = take_u32(&fields), message->out_cap = take_u32(&fields), message->err_cap = take_u32(&fields);
        message->path = take_text(&fields);
        break;
    case REPLY:
        message->status = take_u32(&fields);
        message->out = take_bytes(&fields);
        message->err = take_bytes(&fields);
        break;
    case FIND:
        message->name = take_text(&fields);
        message->component_first = take_flag(&fields);
        break;
    case READ:
        message->path = take_text(&fields);
        message->cap = take_u32(&fields);
        break;
    default:
        return false;
    }
    return !fields.bad && fields.left == 0;
}

size_t frame_begin(struct buffer *buffer, enum frame_type type, uint32_t channel) {
    uint8_t header[FRAME_HEADER] = {[4] = PROTOCOL_VERSION, [5] = (uint8_t)type};
    set_u32(header + 8, channel);
    buffer_append(buffer, header, sizeof header);
    return buffer->size - sizeof header;
}

void put_u32(struct buffer *buffer, uint32_t value) {
    uint8_t bytes[4];
    set_u32(bytes, value);
    buffer_append(buffer, bytes, sizeof bytes);
}

void put_bytes(struct buffer *buffer, const void *data, size_t size) {
    put_u32(buffer, (uint32_t)size);
    buffer_append(buffer, data, size);
}

void put_text(struct buffer *buffer, const char *text) {
    put_bytes(buffer, text, strlen(text));
}

void frame_end(struct buffer *buffer, size_t begin) {
    set_u32(buffer->data + begin, (uint32_t)(buffer->size - begin - FRAME_HEADER));
}
