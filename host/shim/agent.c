#include "agent.h"
#include "daemon-connection.h"
#include "engine-connection.h"
#include "one-shot-engine.h"
#include "policy-file.h"
#include "run-plugin.h"

static void reach_daemon(struct watch *watch, UNUSED short revents) {
    static int logged_error; /* an error is logged once, until it changes */
    const char *mistake = load_policy();
    name_engine("the daemon (%s)", daemon_socket());
    int fd = mistake == NULL ? connect_to(daemon_socket()) : -1, error = mistake != NULL ? EKEYREJECTED : fd < 0 ? errno : 0;
    if (mistake != NULL && error != logged_error) dprintf(STDERR_FILENO, "plexus agent: carries out nothing: %s\n", mistake);
    else if (error != 0 && error != logged_error)
        dprintf(STDERR_FILENO, "plexus agent: waiting for %s: %s\n", describe_engine(), strerror(error));
    logged_error = error;
    watch->due = fd < 0 ? in_ms(RECONNECT_MS) : NEVER;
    if (fd < 0) return;
    restrict_cni_path();
    encode_first_message(AGENT, (struct message){0}, 0);
    open_engine_stream(fd, 0);
}

static struct watch search = {.fd = -1, .wake = reach_daemon};

/* Stops the plugins: the next daemon does not expect their outcomes. */
static void lose_daemon(struct stream *stream, enum stream_end end) {
    if (end == STREAM_MALFORMED)
        dprintf(STDERR_FILENO, "plexus agent: %s sent frames that protocol version %d does not allow%s\n", describe_engine(), PROTOCOL_VERSION, engine_violation);
    stop_plugins();
    stream_close(stream);
    engine_violation[0] = 0;
    search.due = in_ms(RECONNECT_MS);
}

void stay_with_daemon(bool netlink_only) {
    if (netlink_only) forbid_plugins();
    if (netlink_only) setenv("PLEXUS_AGENT", "netlink-only", 1); /* tells the daemon */
    engine.on_end = lose_daemon;
    setenv("CNI_PATH", "/opt/cni/bin", 0);
    own_executable(); /* reads the path now: an upgrade may rename the running file */
    watch_add(&search); /* `due` is 0: the search starts at once */
}
