#include "engine-search.h"
#include "cni-error.h"
#include "daemon-connection.h"
#include "engine-connection.h"
#include "loop.h"
#include "one-shot-engine.h"
#include "one-shot-slot.h"
#include "parent-shim.h"

enum { UNTRIED = -1 };

static const struct buffer *stdin_content;
static int64_t begun, daemon_due, engine_due; /* the start of the search; when the daemon is asked, and an engine is started, next */
static int daemon_state = UNTRIED; /* enum daemon_answer */
static int daemon_error, engine_error; /* why there is no daemon, no one-shot engine (EAGAIN: no slot is free) */
static bool installed; /* the node has an engine */
static bool waits;     /* the timer is in the loop */
static uint32_t pause_ms = SEARCH_PAUSE_MS;

static void search(struct watch *timer, short revents);
static struct watch timer = {.fd = -1, .wake = search};

static bool is_verb(const char *verb) {
    return strcmp(getenv("CNI_COMMAND") ?: "", verb) == 0;
}

/*
 * STATUS and VERSION answer at once: the runtime asks for the present state. But a failed STATUS makes the node not ready, so STATUS waits for
 * a daemon that is being replaced.
 */
static uint32_t time_ms(void) {
    if (is_verb("ADD") || is_verb("DEL") || is_verb("CHECK") || is_verb("GC")) return SEARCH_MS;
    if (!is_verb("STATUS")) return 0;
    if (installed && engine_error == EAGAIN) return STATUS_SEARCH_MS;
    bool replaced = daemon_state == DAEMON_ACCEPTS || (daemon_state == DAEMON_ABSENT && daemon_return_ms(daemon_error, STATUS_RETURN_MS) > 0);
    return replaced ? STATUS_RETURN_MS : 0;
}

static uint32_t waited_ms(void) { return (uint32_t)((now_us() - begun) / 1000); }

static void encode_call(void) {
    uint32_t waited = waited_ms();
    struct message request = {.name = text_bytes(program_invocation_short_name), .in = buffer_bytes(stdin_content)};
    encode_first_message(REQUEST, request, waited < SEARCH_PAUSE_MAX_MS ? 0 : waited);
}

static void end_search(int fd, size_t sent) {
    if (waits) watch_remove(&timer);
    waits = false;
    open_engine_stream(fd, sent);
}

static bool ask_daemon(void) {
    size_t sent = 0;
    int fd = -1;
    name_engine("the daemon (%s)", daemon_socket());
    encode_call();
    daemon_state = (int)call_daemon(&engine.out, &fd, &sent);
    daemon_error = errno;
    if (daemon_state == DAEMON_ACCEPTS) return end_search(fd, sent), true;
    if (daemon_state == DAEMON_BUSY)
        fail(CNI_TRY_LATER, "Repeat the call. Check the daemon's load and log.", "the daemon on %s accepts no connection within %d ms", daemon_socket(), CONNECT_MS);
    if (daemon_state == DAEMON_UNREACHABLE)
        fail(CNI_IO, "Correct PLEXUS_SOCKET, or the socket's owner and mode.", "the daemon's socket %s: %s", daemon_socket(), strerror(daemon_error));
    daemon_due = in_ms(daemon_state == DAEMON_SILENT ? SILENT_PAUSE_MS : daemon_state == DAEMON_OTHER_VERSION ? REFUSED_PAUSE_MS : 0);
    return false;
}

/* Without slot files, for example on a read-only file system, there is no bound: a call matters more. */
static bool start_one_shot_engine(void) {
    installed = has_engine();
    engine_error = installed ? 0 : errno;
    if (!installed) return false;
    if (time_ms() == SEARCH_MS && daemon_state == DAEMON_ABSENT && daemon_return_ms(daemon_error, RETURN_MS) > 0) return false;
    int slot = take_slot(is_verb("DEL") || is_verb("GC"));
    if (slot < 0 && errno == EAGAIN) return engine_error = EAGAIN, false;
    name_engine("the engine (%s %s)", engine_node, engine_script);
    int fd = start_engine(slot);
    engine_error = fd < 0 ? errno : 0;
    installed = fd >= 0;
    engine_due = in_ms(ENGINE_PAUSE_MS);
    if (fd < 0) return false;
    encode_call();
    return end_search(fd, 0), true;
}

/* The daemon's part of the error. */
static const char *describe_daemon(void) {
    static char text[PATH_MAX + 128];
    const char *path = daemon_socket();
    if (daemon_state == DAEMON_OTHER_VERSION)
        snprintf(text, sizeof text, "the daemon on %s has protocol version %d, and this executable has version %d", path, daemon_version(), PROTOCOL_VERSION);
    else if (daemon_state == DAEMON_SILENT) snprintf(text, sizeof text, "the daemon on %s does not answer", path);
    else if (daemon_state == DAEMON_ACCEPTS) snprintf(text, sizeof text, "the daemon on %s is stopping", path);
    else snprintf(text, sizeof text, "no daemon listens on %s: %s", path, strerror(daemon_error));
    return text;
}

/* VERSION needs no engine, unless the caller asks for a certain one by PLEXUS_HOME, or for a component by the executable's name. */
static void answer_version(void) {
    static const char answer[] = "{\"cniVersion\":\"1.1.0\",\"supportedVersions\":[\"0.1.0\",\"0.2.0\",\"0.3.0\",\"0.3.1\",\"0.4.0\",\"1.0.0\",\"1.1.0\"]}";
    if (is_verb("VERSION") && *(getenv("PLEXUS_HOME") ?: "") == 0 && strcmp(program_invocation_short_name, "plexus") == 0) leave(0, answer, sizeof answer - 1, NULL, 0);
}

static _Noreturn void give_up(void) {
    answer_version();
    uint32_t seconds = waited_ms() / 1000;
    if (engine_error == EAGAIN && installed)
        fail(CNI_TRY_LATER, "Start the daemon, and read its log. The runtime repeats the call.",
             "waited %u s: %s, and %d one-shot engines run already, as many as may run at once", seconds, describe_daemon(), ENGINES_MAX);
    fail(CNI_TRY_LATER,
         daemon_state == DAEMON_OTHER_VERSION
             ? "Complete the update: restart the daemon with the release of this executable."
             : "Start the daemon (systemctl start plexusd, or its pod), and read its log. The runtime repeats the call. For calls without a daemon "
               "install the directory with bin/node and plexusd.cjs as /opt/plexus, link .plexus beside the executable to it, or name it in PLEXUS_HOME.",
         "no engine: waited %u s: %s, and %s: %s", seconds, describe_daemon(), missing_file(), strerror(engine_error));
}

static void search(UNUSED struct watch *self, UNUSED short revents) {
    if (engine.watch.wake != NULL) stream_close(&engine); /* of the daemon that gave the call back */
    engine.watch.wake = NULL;
    if (now_us() >= daemon_due && ask_daemon()) return;
    if (now_us() >= engine_due && start_one_shot_engine()) return;
    int64_t left = begun + (int64_t)time_ms() * 1000 - now_us();
    if (left <= 0) give_up();
    if (!waits) watch_add(&timer);
    waits = true;
    timer.due = in_ms(pause_ms < left / 1000 + 1 ? pause_ms : (uint32_t)(left / 1000) + 1);
    pause_ms = pause_ms * 2 < SEARCH_PAUSE_MAX_MS ? pause_ms * 2 : SEARCH_PAUSE_MAX_MS;
}

void find_engine(const struct buffer *configuration) {
    const char *parent = parent_socket();
    stdin_content = configuration;
    begun = now_us();
    check_environment(); /* now: an environment that is too large must fail with or without an engine */
    if (parent == NULL) return search(&timer, 0);
    name_engine("the shim of the calling plugin (PLEXUS_NESTED_CALLS=%s)", parent);
    int fd = connect_to_parent();
    if (fd < 0 && errno == EPERM)
        fail(CNI_TRY_LATER, "Unset PLEXUS_NESTED_CALLS in the environment of the runtime; only Plexus sets it.",
             "%s: no process that called this one listens there", describe_engine());
    if (fd < 0) fail(CNI_TRY_LATER, "Repeat the call. Unset PLEXUS_NESTED_CALLS if no plugin of Plexus made this call.", "%s: %s", describe_engine(), strerror(errno));
    encode_call();
    open_engine_stream(fd, 0);
}

bool find_another_engine(void) {
    if (daemon_state != DAEMON_ACCEPTS || waits) return false;
    answer_version();
    if (waited_ms() >= time_ms()) return false;
    waits = true;
    timer.due = 0; /* the stream is closed then: now its frames are being read */
    watch_add(&timer);
    return true;
}

bool is_searching(void) { return waits; }
