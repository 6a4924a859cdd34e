#include "stream.h"

enum { READ_LEAST = 8192 };

size_t stream_send(int fd, const struct buffer *out, size_t sent) {
    while (fd >= 0 && sent < out->size) {
        ssize_t now = send(fd, out->data + sent, out->size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (now > 0) sent += (size_t)now;
        else if (errno == EPIPE || errno == ECONNRESET) sent = out->size; /* reading will say that it ended */
        else if (errno != EINTR) break;
    }
    return sent;
}

void stream_flush(struct stream *stream) {
    if (stream->taking) return;
    buffer_drop_front(&stream->out, stream_send(stream->watch.fd, &stream->out, 0));
    stream->watch.events = stream->out.size > 0 ? POLLIN | POLLOUT : POLLIN;
    if (stream->out.size > QUEUE_MAX)
        fail(CNI_IO, "Report this: the brain asks without reading answers.", "%zu bytes of answers wait for the brain", stream->out.size);
}

/* Hands every whole frame on. What is said meanwhile goes out in one: each write wakes who reads. */
static void take_frames(struct stream *stream) {
    size_t taken = 0;
    for (stream->taking = true;;) {
        struct frame frame;
        struct message message;
        enum frame_state state = frame_read(stream->in.data + taken, stream->in.size - taken, stream->payload_max, &frame);
        if (state == FRAME_PART) break;
        if (state == FRAME_BAD || !message_decode(&frame, &message) || !stream->on_frame(stream, &frame, &message)) return stream->on_end(stream, STREAM_MALFORMED);
        taken += FRAME_HEADER + frame.length;
    }
    stream->taking = false;
    buffer_drop_front(&stream->in, taken);
    if (stream->out.size > 0) stream_flush(stream);
}

static void stream_read(struct stream *stream) {
    buffer_reserve(&stream->in, stream->in.size > READ_LEAST ? stream->in.size : READ_LEAST);
    ssize_t got = recv(stream->watch.fd, stream->in.data + stream->in.size, stream->in.room - stream->in.size, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return stream->on_end(stream, STREAM_CLOSED);
    stream->in.size += (size_t)got;
    take_frames(stream);
}

static void stream_wake(struct watch *watch, short revents) {
    struct stream *stream = watch->owner;
    if (revents == 0) stream->on_end(stream, STREAM_SILENT);
    else if ((revents & POLLOUT) != 0) stream_flush(stream);
    if ((revents & ~POLLOUT) != 0) stream_read(stream);
}

void stream_open(struct stream *stream, int fd) {
    stream->taking = false; /* the one before may have ended within its frames */
    stream->watch = (struct watch){.fd = fd, .events = POLLIN, .due = NEVER, .wake = stream_wake, .owner = stream};
    watch_add(&stream->watch);
}

void stream_close(struct stream *stream) {
    watch_close(&stream->watch);
    buffer_free(&stream->in);
    buffer_free(&stream->out);
}
