/* plexus, the hands: forwards one CNI call to the brain, carries out the effects that it asks for, prints its reply. */

#include "bin-dir.h"
#include "brain-connection.h"
#include "plugin-path.h"
#include "run-plugin.h"
#include "namespace.h"
#include "nest.h"
#include "resident.h"
#include "spawn.h"

static bool resident;         /* nobody called us, nobody waits for a reply */
static struct buffer request; /* our stdin */

static long long nanoseconds(const struct timespec *time) { return (long long)time->tv_sec * 1000000000LL + time->tv_nsec; }

static void answer_find(uint32_t channel, const struct message *find) {
    static struct found found;
    char identity[160] = "";
    find_for_plan(find->name, find->flag != 0 ? COMPONENT_FIRST : NATIVE_FIRST, &found);
    if (found.kind != NOTHING)
        snprintf(identity, sizeof identity, "%llu:%llu:%lld:%lld:%lld", (unsigned long long)found.status.st_dev, (unsigned long long)found.status.st_ino,
                 (long long)found.status.st_size, nanoseconds(&found.status.st_mtim), nanoseconds(&found.status.st_ctim));
    tell_brain(FOUND, channel, &(struct message){.status = found.kind, .path = text_bytes(found.path), .identity = text_bytes(identity)});
}

static void answer_read(uint32_t channel, const struct message *read) {
    struct stat status;
    struct buffer content = {0};
    int fd = open_found_component(read->path, &status), error = fd < 0 ? errno : 0;
    if (error == 0 && (uint64_t)status.st_size > (read->out_cap < CONTENT_MAX ? read->out_cap : CONTENT_MAX)) error = EFBIG;
    if (error == 0) {
        buffer_reserve(&content, (size_t)status.st_size);
        content.size = (size_t)status.st_size;
        if (pread(fd, content.data, content.size, 0) != status.st_size) error = EIO; /* cut while we read it */
    }
    tell_brain(CONTENT, channel, &(struct message){.status = (uint32_t)error, .out = error == 0 ? buffer_bytes(&content) : (struct bytes){0}});
    buffer_free(&content);
    if (fd >= 0) close(fd);
}

static bool brain_says(UNUSED struct stream *stream, const struct frame *frame, const struct message *message) {
    bool nested = (frame->channel & NESTED_CHANNEL) != 0, effect = frame->channel != 0 && !nested;
    if (frame->type == WELCOME) return frame->channel == 0;
    if (frame->type == REPLY && nested) nest_reply(frame->channel, message);
    else if (frame->type == REPLY && !effect && !resident)
        leave(message->status > 255 ? 1 : (int)message->status, message->out.data, message->out.size, message->err.data, message->err.size);
    else if (!effect || frame->type <= REPLY || plugin_runs_on(frame->channel)) return false;
    else if (frame->type == EXEC) run_plugin(frame->channel, message);
    else if (frame->type == FIND) answer_find(frame->channel, message);
    else if (frame->type == READ) answer_read(frame->channel, message);
    else answer_in_namespace(frame, message);
    return true;
}

static _Noreturn void brain_ended(UNUSED struct stream *stream, enum stream_end end) {
    if (end == STREAM_MALFORMED)
        fail(CNI_IO, "Install executable and brain of the same release; if they are, report this.", "frames that protocol version %d does not allow came from %s",
             PROTOCOL_VERSION, brain_obituary());
    fail(CNI_TRY_LATER, "Repeat the call; what was begun is undone by the next DEL. Look at the brain's log.", "no answer: the stream ended early: %s",
         brain_obituary());
}

static void runtime_writes(struct watch *watch, short revents) {
    if (revents == 0)
        fail(CNI_IO, "Close the plugin's stdin after the configuration.", "stdin was not closed within %d ms (%zu bytes came)", STDIN_MS, request.size);
    buffer_reserve(&request, 8192);
    ssize_t got = read(watch->fd, request.data + request.size, request.room - request.size);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got < 0) fail(CNI_IO, "Give the plugin a stdin that can be read.", "stdin: %s", strerror(errno));
    request.size += (size_t)got;
    if (request.size > STDIN_MAX) fail(CNI_IO, "Make the configuration or its prevResult smaller.", "stdin is larger than %u bytes", STDIN_MAX);
    if (got > 0) return;
    watch_remove(watch);
    buffer_append(&request, "", 1);
    if (getenv("PLEXUS_NEST") == NULL) lead_with_bin_dir((const char *)request.data);
    request.size--;
    /* Not before there is something to say: a daemon that is woken for a mere connection keeps us from reading on. */
    tell_purpose(connect_to_brain(), REQUEST, (struct message){.name = text_bytes(program_invocation_short_name), .in = buffer_bytes(&request)});
    buffer_free(&request);
}

static void signal_came(struct watch *watch, UNUSED short revents) {
    struct signalfd_siginfo info;
    while (read(watch->fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD) reap_plugins();
        else if (resident) leave(0, NULL, 0, NULL, 0);
        else
            fail(CNI_TRY_LATER, "Repeat the call; what was begun is undone by the next DEL.", "stopped by signal %u from process %u",
                 info.ssi_signo, info.ssi_pid);
    }
}

/* Signals arrive through a descriptor; dispositions are default, ours and with that our children's. */
static int take_signals(void) {
    sigset_t taken;
    sigemptyset(&taken);
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    static const int numbers[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaddset(&taken, numbers[i]);
    int fd = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
    sigaddset(&taken, SIGPIPE); /* blocked for good: writing answers EPIPE */
    if (fd < 0 || sigprocmask(SIG_SETMASK, &taken, NULL) != 0) fail(CNI_TRY_LATER, "Check the limit of open files.", "signalfd: %s", strerror(errno));
    return fd;
}

int main(int argc, char **argv) {
    bool called = *(getenv("CNI_COMMAND") ?: "") != 0;
    resident = !called && argc == 2 && strcmp(argv[1], "hands") == 0;
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd) return 1;
    if (!called && !resident) { /* as the reference plugins do */
        dprintf(STDERR_FILENO, "CNI plugin plexus " PLEXUS_VERSION ": chains of native plugins and WebAssembly components\n"
                               "CNI protocol versions supported: 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0\n");
        return 0;
    }
    close_from(3);
    struct watch signals = {.fd = take_signals(), .events = POLLIN, .due = NEVER, .wake = signal_came};
    struct watch input = {.fd = STDIN_FILENO, .events = POLLIN, .due = in_ms(STDIN_MS), .wake = runtime_writes};
    watch_add(&signals);
    before_leaving = stop_plugins;
    brain.payload_max = PAYLOAD_MAX;
    brain.on_frame = brain_says;
    brain.on_end = brain_ended;
    if (resident) stay_with_daemon();
    else watch_add(&input);
    loop_run();
}
