/* Fuzz target of the shim's frame parser (host/shim/frame.c), for libFuzzer or replay.c.

   Input: a byte with the size of the pieces in which the stream arrives, then the stream. The target checks that the parser
   reads no memory outside the bytes that arrived (by the sanitizer), that fields lie within their payload and fill it, and
   that a decoded message, encoded again, has the same bytes. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cni-error.h"
#include "frame.h"
#include "bounds.h"

/* The parser calls fail only if memory is exhausted. */
_Noreturn void fail(enum cni_code code, const char *remedy, const char *message, ...) {
    fprintf(stderr, "fail %d: %s: %s\n", code, message, remedy);
    abort();
}

static void must(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

static void within(struct bytes bytes, const struct frame *frame) {
    if (bytes.size == 0) return;
    must(bytes.data >= frame->payload && bytes.size <= frame->length && bytes.data + bytes.size <= frame->payload + frame->length, "a field lies outside its payload");
    static volatile uint8_t seen; /* makes the compiler read every byte */
    for (uint32_t i = 0; i < bytes.size; i++) seen = bytes.data[i];
    (void)seen;
}

static void write_again(const struct frame *frame, const struct message *message) {
    struct buffer buffer = {0};
    message_encode(&buffer, frame->type, frame->channel, message);
    must(buffer.size == FRAME_HEADER + frame->length, "an encoded message has another length than its frame");
    must(memcmp(buffer.data + FRAME_HEADER, frame->payload, frame->length) == 0, "an encoded message has other bytes than its frame");
    buffer_free(&buffer);
}

static void look(const struct frame *frame) {
    struct message message;
    if (!message_decode(frame, &message)) return;
    const struct bytes fields[] = {message.name, message.environment, message.in, message.out, message.err, message.path, message.identity, message.second};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) within(fields[i], frame);
    must(message.name.size == 0 || memchr(message.name.data, 0, message.name.size) == NULL, "a NUL in a name");
    must(message.path.size == 0 || memchr(message.path.data, 0, message.path.size) == NULL, "a NUL in a path");
    must(message.second.size == 0 || memchr(message.second.data, 0, message.second.size) == NULL, "a NUL in a second path");
    must(message.flag <= 1, "a flag that is a number");
    must(message.environment.size == 0 || message.environment.data[message.environment.size - 1] == 0, "an environment is not NUL-terminated");
    write_again(frame, &message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    size_t piece = data[0] == 0 ? size : data[0], arrived = 0;
    struct buffer stream = {0};
    data++;
    size--;
    while (arrived < size) {
        size_t now = size - arrived < piece ? size - arrived : piece;
        buffer_append(&stream, data + arrived, now);
        arrived += now;
        for (;;) {
            uint8_t *exact = malloc(stream.size == 0 ? 1 : stream.size); /* an exact allocation, so that the sanitizer detects any read beyond it */
            must(exact != NULL, "out of memory");
            if (stream.size > 0) memcpy(exact, stream.data, stream.size);
            struct frame frame = {0};
            enum frame_state state = frame_read(exact, stream.size, PAYLOAD_MAX, &frame);
            size_t whole = FRAME_HEADER + (size_t)frame.length;
            if (state == FRAME_WHOLE) must(whole <= stream.size, "an incomplete frame is reported as whole"), look(&frame);
            if (state == FRAME_PART && stream.size >= FRAME_HEADER) must(frame.length <= PAYLOAD_MAX && whole > stream.size, "a whole frame is reported as incomplete");
            free(exact);
            if (state == FRAME_BAD) arrived = size;
            if (state != FRAME_WHOLE) break;
            buffer_drop_front(&stream, whole);
        }
    }
    buffer_free(&stream);
    return 0;
}
