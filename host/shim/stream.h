/* A stream of frames over a connected socket in both directions, served by the poll loop. */
#ifndef PLEXUS_STREAM_H
#define PLEXUS_STREAM_H

#include "buffer.h"
#include "frame.h"
#include "loop.h"

enum stream_end { STREAM_CLOSED, STREAM_MALFORMED, STREAM_SILENT };

struct stream {
    struct watch watch; /* at `due`, on_end is called with STREAM_SILENT */
    struct buffer in, out;
    size_t sent; /* bytes of `out` that the peer has */
    uint32_t payload_max;
    bool handling; /* on_frame runs */
    /* False: the peer may not send this frame now. Must not free the stream. */
    bool (*on_frame)(struct stream *stream, const struct frame *frame, const struct message *message);
    /* The stream has ended; may free it. */
    void (*on_end)(struct stream *stream, enum stream_end end);
};

/* Takes over the connected socket `fd` and adds the watch. The caller sets the other fields. */
void stream_open(struct stream *stream, int fd);
/* Sends `out` from the byte `sent` on, as far as the socket takes it now. Answers the new number of bytes sent. */
size_t stream_send(int fd, const struct buffer *out, size_t sent);
/* Sends the stream's `out` as far as the socket takes it now; the loop sends the rest. */
void stream_flush(struct stream *stream);
void stream_close(struct stream *stream);

#endif
