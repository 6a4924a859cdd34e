/* A stream of frames over a connected socket, both ways, within the poll loop. */
#ifndef PLEXUS_STREAM_H
#define PLEXUS_STREAM_H

#include "buffer.h"
#include "frame.h"
#include "loop.h"

enum stream_end { STREAM_CLOSED, STREAM_MALFORMED, STREAM_SILENT };

struct stream {
    struct watch watch; /* `due`: when to call on_end with STREAM_SILENT */
    struct buffer in, out;
    uint32_t payload_max;
    bool taking; /* frames are being handed on */
    /* False: the frame was not one that this sender may send now. Must not free the stream. */
    bool (*on_frame)(struct stream *stream, const struct frame *frame, const struct message *message);
    /* The stream is no use any more; may free it. */
    void (*on_end)(struct stream *stream, enum stream_end end);
};

/* Takes over the connected socket `fd` and adds the watch; the other fields are the caller's to set. */
void stream_open(struct stream *stream, int fd);
/* Sends what `out` holds behind the first `sent` bytes, as far as the peer takes it now; answers how many are sent then. */
size_t stream_send(int fd, const struct buffer *out, size_t sent);
/* Sends what `out` holds, as far as the peer takes it now; the loop sends the rest. */
void stream_flush(struct stream *stream);
void stream_close(struct stream *stream);

#endif
