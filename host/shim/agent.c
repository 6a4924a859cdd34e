#include "resident.h"
#include "brain-connection.h"
#include "run-plugin.h"

static void reach_daemon(struct watch *watch, UNUSED short revents) {
    static int told; /* each reason once, until it changes */
    int fd = connect_to_daemon(), error = fd < 0 ? errno : 0;
    if (error != 0 && error != told) dprintf(STDERR_FILENO, "plexus hands: waiting for %s: %s\n", brain_obituary(), strerror(error));
    told = error;
    watch->due = fd < 0 ? in_ms(RECONNECT_MS) : NEVER;
    if (fd >= 0) tell_purpose(fd, RESIDENT, (struct message){0});
}

static struct watch search = {.fd = -1, .wake = reach_daemon};

/* Nobody waits for what is under way: a daemon that comes next begins anew. */
static void lose_daemon(struct stream *stream, enum stream_end end) {
    if (end == STREAM_MALFORMED)
        dprintf(STDERR_FILENO, "plexus hands: frames that protocol version %d does not allow came from %s\n", PROTOCOL_VERSION, brain_obituary());
    stop_plugins();
    stream_close(stream);
    search.due = in_ms(RECONNECT_MS);
}

void stay_with_daemon(void) {
    brain.on_end = lose_daemon;
    setenv("CNI_PATH", "/opt/cni/bin", 0);
    own_executable(); /* as it is called now: an upgrade may rename what runs */
    watch_add(&search); /* due since long ago */
}
