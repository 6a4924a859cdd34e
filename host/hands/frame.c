#include "frame.h"

static uint32_t u32_at(const uint8_t *data) {
    return (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
}

static void set_u32(uint8_t *data, uint32_t value) {
    for (int i = 0; i < 4; i++) data[i] = (uint8_t)(value >> (8 * i));
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

/* Goes through the fields of a message, to write them to `out` or, where that is NULL, to read them from `data`. */
struct coder {
    struct buffer *out;
    const uint8_t *data;
    uint32_t left;
    bool bad;
};

static void code_u32(struct coder *coder, uint32_t *value) {
    uint8_t bytes[4];
    if (coder->out != NULL) {
        set_u32(bytes, *value);
        buffer_append(coder->out, bytes, sizeof bytes);
    } else if (coder->left < sizeof bytes) coder->bad = true;
    else {
        *value = u32_at(coder->data);
        coder->data += sizeof bytes;
        coder->left -= sizeof bytes;
    }
}

static void code_flag(struct coder *coder, uint32_t *value) {
    code_u32(coder, value);
    if (*value > 1) coder->bad = true;
}

static void code_bytes(struct coder *coder, struct bytes *value) {
    code_u32(coder, &value->size);
    if (coder->out != NULL) buffer_append(coder->out, value->data, value->size);
    else if (coder->bad || value->size > coder->left) {
        coder->bad = true;
        value->size = 0;
    } else {
        value->data = coder->data;
        coder->data += value->size;
        coder->left -= value->size;
    }
}

/* A row of NUL-terminated strings. */
static void code_environment(struct coder *coder, struct bytes *value) {
    code_bytes(coder, value);
    if (value->size > 0 && value->data[value->size - 1] != 0) coder->bad = true;
}

/* Text that becomes a C string must not hide anything behind a NUL. */
static void code_text(struct coder *coder, struct bytes *value) {
    code_bytes(coder, value);
    if (value->size > 0 && memchr(value->data, 0, value->size) != NULL) coder->bad = true;
}

static void code_message(struct coder *coder, enum frame_type type, struct message *message) {
    switch (type) {
    case WELCOME:
        break;
    case REQUEST:
        code_text(coder, &message->name);
        code_environment(coder, &message->environment);
        code_bytes(coder, &message->in);
        code_u32(coder, &message->under);
        break;
    case RESIDENT:
        code_environment(coder, &message->environment);
        break;
    case EXECUTED:
        code_u32(coder, &message->status);
        code_u32(coder, &message->detail);
        code_u32(coder, &message->microseconds);
        code_u32(coder, &message->flags);
        code_bytes(coder, &message->out);
        code_bytes(coder, &message->err);
        code_text(coder, &message->path);
        break;
    case FOUND:
        code_u32(coder, &message->status);
        code_text(coder, &message->path);
        code_text(coder, &message->identity);
        break;
    case CONTENT:
        code_u32(coder, &message->status);
        code_bytes(coder, &message->out);
        break;
    case REPLY:
        code_u32(coder, &message->status);
        code_bytes(coder, &message->out);
        code_bytes(coder, &message->err);
        break;
    case EXEC:
        code_text(coder, &message->name);
        code_environment(coder, &message->environment);
        code_bytes(coder, &message->in);
        code_u32(coder, &message->deadline_ms);
        code_u32(coder, &message->out_cap);
        code_u32(coder, &message->err_cap);
        code_text(coder, &message->path);
        break;
    case FIND:
        code_text(coder, &message->name);
        code_flag(coder, &message->component_first);
        break;
    case READ:
        code_text(coder, &message->path);
        code_u32(coder, &message->out_cap);
        break;
    case NETLINK:
        code_text(coder, &message->path);
        code_bytes(coder, &message->in);
        code_u32(coder, &message->deadline_ms);
        break;
    case NETLINKED:
        code_u32(coder, &message->status);
        code_u32(coder, &message->flags);
        code_bytes(coder, &message->out);
        break;
    default:
        coder->bad = true;
    }
}

bool message_decode(const struct frame *frame, struct message *message) {
    struct coder coder = {.data = frame->payload, .left = frame->length};
    *message = (struct message){0};
    code_message(&coder, frame->type, message);
    return !coder.bad && coder.left == 0;
}

void message_encode(struct buffer *buffer, enum frame_type type, uint32_t channel, const struct message *message) {
    uint8_t header[FRAME_HEADER] = {[4] = PROTOCOL_VERSION, [5] = (uint8_t)type};
    struct message copy = *message;
    size_t begin = buffer->size;
    set_u32(header + 8, channel);
    buffer_append(buffer, header, sizeof header);
    code_message(&(struct coder){.out = buffer}, type, &copy);
    set_u32(buffer->data + begin, (uint32_t)(buffer->size - begin - FRAME_HEADER));
}
