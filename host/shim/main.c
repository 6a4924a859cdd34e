/* plexus, the shim: forwards one CNI call to the engine, carries out the engine's effects, and prints its reply. */
#include "agent.h"
#include "ask.h"
#include "bin-dir.h"
#include "cni-error.h"
#include "engine-connection.h"
#include "engine-search.h"
#include "firewalld-zone.h"
#include "link-changes.h"
#include "namespace-effects.h"
#include "nested-calls.h"
#include "parent-shim.h"
#include "plugin-environment.h"
#include "plugin-path.h"
#include "policy-file.h"
#include "run-directory.h"
#include "run-plugin.h"
#include "spawn.h"
#include "tap.h"

static bool is_agent;         /* no runtime called: there is no reply */
static bool has_effects;      /* the engine has asked for an effect: it has begun the call */
static struct buffer request; /* stdin, until the engine begins the call */

static long long nanoseconds(const struct timespec *time) { return (long long)time->tv_sec * 1000000000LL + time->tv_nsec; }

static void answer_find(uint32_t channel, const struct message *find) {
    static struct found found;
    char identity[160] = "";
    find_for_plan(find->name, find->flag != 0 ? COMPONENT_FIRST : NATIVE_FIRST, &found);
    if (found.kind != NOTHING)
        snprintf(identity, sizeof identity, "%llu:%llu:%lld:%lld:%lld", (unsigned long long)found.status.st_dev, (unsigned long long)found.status.st_ino,
                 (long long)found.status.st_size, nanoseconds(&found.status.st_mtim), nanoseconds(&found.status.st_ctim));
    send_to_engine(FOUND, channel, &(struct message){.status = found.kind, .path = text_bytes(found.path), .identity = text_bytes(identity)});
}

static void answer_read(uint32_t channel, const struct message *read) {
    struct stat status;
    struct buffer content = {0};
    int fd = open_found_component(read->path, &status), error = fd < 0 ? errno : 0;
    if (error == 0 && (uint64_t)status.st_size > (read->out_cap < CONTENT_MAX ? read->out_cap : CONTENT_MAX)) error = EFBIG;
    if (error == 0) {
        buffer_reserve(&content, (size_t)status.st_size);
        content.size = (size_t)status.st_size;
        if (pread(fd, content.data, content.size, 0) != status.st_size) error = EIO; /* the file changed meanwhile */
    }
    send_to_engine(CONTENT, channel, &(struct message){.status = (uint32_t)error, .out = error == 0 ? buffer_bytes(&content) : (struct bytes){0}});
    buffer_free(&content);
    if (fd >= 0) close(fd);
}

static bool sets_allowed_variables(const struct message *exec) {
    const char *variable = forbidden_variable(exec->environment);
    if (variable == NULL) return true;
    char name[41];
    copy_printable(name, sizeof name, variable, strcspn(variable, "="));
    snprintf(engine_violation, sizeof engine_violation, ": EXEC sets the variable %s, which only the runtime may set", name);
    return false;
}

/* The shim of a nested call is root, too, and carries out nothing: the parent passes its request on and sends the reply. */
static bool may_ask(const struct frame *frame) {
    if (is_agent || parent_socket() == NULL || (frame->type == REPLY && frame->channel == 0)) return true;
    snprintf(engine_violation, sizeof engine_violation, ": a nested call gets nothing but a REPLY");
    return false;
}

static bool handle_engine_frame(UNUSED struct stream *stream, const struct frame *frame, const struct message *message) {
    if (is_searching()) return false; /* a daemon that gave the call back asks for nothing more */
    if (!may_ask(frame)) return false;
    bool nested = (frame->channel & NESTED_CHANNEL) != 0, effect = frame->channel != 0 && !nested;
    if (frame->type == WELCOME) return frame->channel == 0;
    if (frame->type == REPLY && frame->channel == 0 && message->status == NOT_BEGUN && !has_effects && !is_agent && find_another_engine()) return true;
    if (effect && !has_effects) buffer_free(&request);
    has_effects = has_effects || effect;
    if (frame->type == EXEC && !sets_allowed_variables(message)) return false;
    if (frame->type == REPLY && nested) nested_calls_reply(frame->channel, message);
    else if (frame->type == REPLY && !effect && !is_agent)
        leave(message->status > 255 ? 1 : (int)message->status, message->out.data, message->out.size, message->err.data, message->err.size);
    else if (!effect || frame->type <= REPLY || plugin_runs_on(frame->channel) || ask_runs_on(frame->channel) || changes_wait_on(frame->channel)) return false;
    else if (frame->type == EXEC) run_plugin(frame->channel, message);
    else if (frame->type == FIND) answer_find(frame->channel, message);
    else if (frame->type == READ) answer_read(frame->channel, message);
    else if (frame->type == CHANGES) answer_changes(frame->channel, message);
    else if (frame->type == ZONE) answer_zone(frame->channel, message);
    else answer_in_namespace(frame, message);
    return true;
}

static void engine_ended(UNUSED struct stream *stream, enum stream_end end) {
    if (is_searching()) return; /* the search closes the stream */
    if (end == STREAM_MALFORMED)
        fail(CNI_IO, "Install the executable and the engine of one release. If they are of one release, report this.",
             "%s sent frames that protocol version %d does not allow%s", describe_engine(), PROTOCOL_VERSION, engine_violation);
    fail(CNI_TRY_LATER, "Repeat the call; the next DEL undoes what this call began. Look at the engine's log.", "no answer: the stream ended early: %s",
         describe_engine());
}

/*
 * Takes what no engine may choose: directories from the configuration, bounds from the node's policy. A nested call has its directories from the
 * parent, and its configuration from a plugin.
 */
static void prepare_effects(const char *configuration) {
    const char *mistake = load_policy();
    if (mistake != NULL) fail(CNI_TRY_LATER, "Correct or remove the policy; until then Plexus carries out nothing on this node.", "%s", mistake);
    if (parent_socket() != NULL) return;
    prepend_bin_dir(configuration);
    set_run_directory(configuration);
    restrict_cni_path();
}

static void read_stdin(struct watch *watch, short revents) {
    if (revents == 0)
        fail(CNI_IO, "Close the plugin's stdin after the configuration.", "stdin was not closed within %d ms (%zu bytes received)", STDIN_MS, request.size);
    buffer_reserve(&request, 8192);
    ssize_t got = read(watch->fd, request.data + request.size, request.capacity - request.size);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got < 0) fail(CNI_IO, "Start the plugin with a readable stdin.", "stdin: %s", strerror(errno));
    request.size += (size_t)got;
    if (request.size > STDIN_MAX) fail(CNI_IO, "Make the configuration or its prevResult smaller.", "stdin is larger than %u bytes", STDIN_MAX);
    if (got > 0) return;
    watch_remove(watch);
    buffer_append(&request, "", 1);
    error_version_from((const char *)request.data);
    prepare_effects((const char *)request.data);
    request.size--;
    /* Connects only now: a daemon that wakes for the connection alone would take the CPU from the reading of stdin. */
    find_engine(&request);
}

static void handle_signal(struct watch *watch, UNUSED short revents) {
    struct signalfd_siginfo info;
    while (read(watch->fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD) reap_plugins();
        else if (is_agent) leave(0, NULL, 0, NULL, 0);
        else
            fail(CNI_TRY_LATER, "Repeat the call; the next DEL undoes what this call began.", "stopped by signal %u from process %u",
                 info.ssi_signo, info.ssi_pid);
    }
}

/* Answers a descriptor that delivers the signals. All dispositions become the default, which plugins inherit. */
static int open_signal_fd(void) {
    sigset_t blocked;
    sigemptyset(&blocked);
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    static const int numbers[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaddset(&blocked, numbers[i]);
    int fd = signalfd(-1, &blocked, SFD_CLOEXEC | SFD_NONBLOCK);
    sigaddset(&blocked, SIGPIPE); /* stays blocked: write() answers EPIPE instead */
    if (fd < 0 || sigprocmask(SIG_SETMASK, &blocked, NULL) != 0) fail(CNI_TRY_LATER, "Check the limit of open files (RLIMIT_NOFILE).", "signalfd: %s", strerror(errno));
    return fd;
}

int main(int argc, char **argv) {
    bool called = *(getenv("CNI_COMMAND") ?: "") != 0;
    is_agent = !called && argc >= 2 && strcmp(argv[1], "agent") == 0;
    bool netlink_only = is_agent && argc == 3 && strcmp(argv[2], "--netlink-only") == 0;
    bool has_root = is_agent && argc == 4 && strcmp(argv[2], "--root") == 0;
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd) return 1;
    if (!called && is_tap_call(argc, argv)) return make_tap_of(argv);
    if (!called && !is_agent) { /* the about-text of the reference plugins */
        dprintf(STDERR_FILENO, "CNI plugin plexus " PLEXUS_VERSION ": chains of native plugins and WebAssembly components\n"
                               "CNI protocol versions supported: 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0\n");
        return 0;
    }
    if (is_agent && argc > 2 && !netlink_only && !has_root) {
        dprintf(STDERR_FILENO, "plexus agent: %s is not an option; they are --netlink-only and --root DIRECTORY\n", argv[argc - 1]);
        return 2;
    }
    if (has_root) become_agent_in(argv[3]);
    close_from(3);
    struct watch signals = {.fd = open_signal_fd(), .events = POLLIN, .due = NEVER, .wake = handle_signal};
    struct watch input = {.fd = STDIN_FILENO, .events = POLLIN, .due = in_ms(STDIN_MS), .wake = read_stdin};
    watch_add(&signals);
    before_exit = stop_plugins;
    engine.payload_max = PAYLOAD_MAX;
    engine.on_frame = handle_engine_frame;
    engine.on_end = engine_ended;
    if (is_agent) stay_with_daemon(netlink_only);
    else watch_add(&input);
    loop_run();
}
