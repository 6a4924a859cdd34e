#include "stream.h"
#include "cni-error.h"

enum { MIN_READ = 8192 };

size_t stream_send(int fd, const struct buffer *out, size_t sent) {
    while (fd >= 0 && sent < out->size) {
        ssize_t count = send(fd, out->data + sent, out->size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count > 0) sent += (size_t)count;
        else if (errno == EPIPE || errno == ECONNRESET) sent = out->size; /* reading reports the end */
        else if (errno != EINTR) break;
    }
    return sent;
}

static void send_queue(struct stream *stream) {
    stream->sent = stream_send(stream->watch.fd, &stream->out, stream->sent);
    /* Dropping moves the rest. Half at a time, each byte is moved once at most. */
    if (stream->sent >= stream->out.size - stream->sent) {
        buffer_drop_front(&stream->out, stream->sent);
        stream->sent = 0;
    }
    stream->watch.events = stream->out.size > 0 ? POLLIN | POLLOUT : POLLIN;
}

/* The bound holds while frames are handled, too: one read may bring a hundred frames, each of which asks for megabytes. */
void stream_flush(struct stream *stream) {
    if (!stream->handling) send_queue(stream);
    if (stream->out.size - stream->sent > QUEUE_MAX)
        fail(CNI_IO, "Report this: the engine asks without reading answers.", "%zu bytes of answers wait for the engine", stream->out.size - stream->sent);
}

/* Handles each whole frame. Frames sent meanwhile go out in one write: each write wakes the peer. */
static void handle_frames(struct stream *stream) {
    size_t handled = 0;
    for (stream->handling = true;;) {
        struct frame frame;
        struct message message;
        enum frame_state state = frame_read(stream->in.data + handled, stream->in.size - handled, stream->payload_max, &frame);
        if (state == FRAME_PART) break;
        if (state == FRAME_BAD || !message_decode(&frame, &message) || !stream->on_frame(stream, &frame, &message)) return stream->on_end(stream, STREAM_MALFORMED);
        handled += FRAME_HEADER + frame.length;
    }
    stream->handling = false;
    buffer_drop_front(&stream->in, handled);
    if (stream->out.size > 0) stream_flush(stream);
}

static void stream_read(struct stream *stream) {
    buffer_reserve(&stream->in, stream->in.size > MIN_READ ? stream->in.size : MIN_READ);
    ssize_t got = recv(stream->watch.fd, stream->in.data + stream->in.size, stream->in.capacity - stream->in.size, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return stream->on_end(stream, STREAM_CLOSED);
    stream->in.size += (size_t)got;
    handle_frames(stream);
}

static void stream_wake(struct watch *watch, short revents) {
    struct stream *stream = watch->owner;
    if (revents == 0) stream->on_end(stream, STREAM_SILENT);
    else if ((revents & POLLOUT) != 0) stream_flush(stream);
    if ((revents & ~POLLOUT) != 0) stream_read(stream);
}

void stream_open(struct stream *stream, int fd) {
    stream->handling = false; /* the previous connection may have ended within on_frame */
    stream->watch = (struct watch){.fd = fd, .events = POLLIN, .due = NEVER, .wake = stream_wake, .owner = stream};
    watch_add(&stream->watch);
}

void stream_close(struct stream *stream) {
    watch_close(&stream->watch);
    buffer_free(&stream->in);
    buffer_free(&stream->out);
    stream->sent = 0;
}
