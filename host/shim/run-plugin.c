#include "run-plugin.h"
#include "engine-connection.h"
#include "nested-calls.h"
#include "plugin-environment.h"
#include "plugin-path.h"
#include "policy-file.h"
#include "spawn.h"

enum { PIECE = 65536 }; /* bytes of a plugin's output in one read() */

struct capture {
    struct watch watch;
    struct buffer data;
    uint32_t cap;
    bool truncated;
};

struct run {
    uint32_t channel; /* 0: a free slot */
    struct buffer path, environment; /* NUL-terminated; `KEY=value\0`, repeated */
    struct watch timer;
    struct capture out, err;
    struct nested_calls nested_calls;
    int64_t started;
    pid_t pid;
    bool killed;
};

/* Instead of a channel: EXECUTED was sent, but the process has not ended in spite of SIGKILL. */
#define STUCK NESTED_CHANNEL

static struct run runs[EFFECTS_MAX];
static bool plugins_forbidden;

void forbid_plugins(void) { plugins_forbidden = true; }

/*
 * Reads a piece of output; closes the pipe at its end. Output beyond the cap is read and discarded: killing the plugin would leave its work half
 * done, and not reading would block it. The deadline bounds the time.
 */
static void read_output(struct watch *watch, UNUSED short revents) {
    static uint8_t piece[PIECE];
    struct capture *capture = watch->owner;
    ssize_t got = read(watch->fd, piece, sizeof piece);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) watch_close(watch);
    if (got <= 0) return;
    size_t left = capture->cap - capture->data.size, kept = (size_t)got < left ? (size_t)got : left;
    buffer_append(&capture->data, piece, kept);
    if (kept < (size_t)got) capture->truncated = true;
}

static void capture_begin(struct capture *capture, int fd) {
    fcntl(fd, F_SETFL, O_NONBLOCK);
    capture->watch = (struct watch){.fd = fd, .events = POLLIN, .due = NEVER, .wake = read_output, .owner = capture};
    watch_add(&capture->watch);
}

/* Reads the output that is in the pipe now, then closes it. A child of the plugin may still hold the other end open. */
static void capture_end(struct capture *capture) {
    int waiting = 0;
    if (capture->watch.fd >= 0) ioctl(capture->watch.fd, FIONREAD, &waiting);
    for (; waiting > 0 && capture->watch.fd >= 0; waiting -= PIECE) read_output(&capture->watch, POLLIN);
    watch_close(&capture->watch);
}

static void run_free(struct run *run) {
    struct buffer *buffers[] = {&run->path, &run->environment, &run->out.data, &run->err.data};
    for (int i = 0; i < 4; i++) buffer_free(buffers[i]);
    watch_remove(&run->timer);
    watch_close(&run->out.watch);
    watch_close(&run->err.watch);
    nested_calls_close(&run->nested_calls);
    run->channel = 0;
}

static void answer(const struct run *run, enum outcome outcome, int detail) {
    int64_t took = now_us() - run->started;
    struct message executed = {.status = outcome, .detail = (uint32_t)detail, .flags = (uint32_t)run->out.truncated | (uint32_t)run->err.truncated << 1};
    executed.microseconds = took > UINT32_MAX ? UINT32_MAX : (uint32_t)took;
    executed.out = buffer_bytes(&run->out.data);
    executed.err = buffer_bytes(&run->err.data);
    executed.path = text_bytes(run->path.data == NULL ? "" : (const char *)run->path.data);
    send_to_engine(EXECUTED, run->channel, &executed);
}

static void finish(struct run *run, enum outcome outcome, int detail) {
    capture_end(&run->out);
    capture_end(&run->err);
    nested_calls_close(&run->nested_calls); /* before the answer: the engine may check that the directory is gone */
    answer(run, outcome, detail);
    run_free(run);
}

/* Starts the process. Its stdin is a file in memory: the shim need not write while the plugin reads. Answers 0 or an errno. */
static int start(struct run *run, struct bytes in) {
    enum { IN, OUT, OUT_END, ERR, ERR_END, FDS };
    int fds[FDS] = {memory_file("plexus-plugin-stdin"), -1, -1, -1, -1}, error = 0;
    char *arguments[] = {(char *)run->path.data, NULL};
    bool ready = fds[IN] >= 0 && pipe2(fds + OUT, O_CLOEXEC) == 0 && pipe2(fds + ERR, O_CLOEXEC) == 0;
    if (ready && pwrite(fds[IN], in.data, in.size, 0) == (ssize_t)in.size) {
        struct spawn plugin = {.argv = arguments, .environment = &run->environment, .fds = {fds[IN], fds[OUT_END], fds[ERR_END], -1, -1}};
        plugin.dies_with_parent = true;
        run->pid = spawn(&plugin);
    }
    if (run->pid <= 0) error = errno != 0 ? errno : EIO;
    for (int i = 0; i < FDS; i++)
        if (fds[i] >= 0 && (error != 0 || (i != OUT && i != ERR))) close(fds[i]);
    if (error != 0) return error;
    capture_begin(&run->out, fds[OUT]);
    capture_begin(&run->err, fds[ERR]);
    return 0;
}

/* Kills the process group, and the process itself in case it joined another group. The pid is still its own: it is not reaped yet. */
static void kill_run(const struct run *run) {
    kill(-run->pid, SIGKILL);
    kill(run->pid, SIGKILL);
}

static void timer_wake(struct watch *watch, UNUSED short revents) {
    struct run *run = watch->owner;
    if (run->killed) { /* SIGKILL has no effect yet: the process is blocked in the kernel */
        finish(run, DEADLINE_PASSED, SIGKILL);
        run->channel = STUCK;
        return;
    }
    run->killed = true;
    kill_run(run);
    run->timer.due = in_ms(REAP_MS);
}

static struct run *run_on(uint32_t channel) {
    for (struct run *run = runs; run < runs + EFFECTS_MAX; run++)
        if (run->channel == channel) return run;
    return NULL;
}

bool plugin_runs_on(uint32_t channel) {
    return run_on(channel) != NULL;
}

void run_plugin(uint32_t channel, const struct message *exec) {
    static struct found found;
    find_plugin(exec->name, NATIVE_ONLY, &found);
    struct run *run = run_on(0), refused = {.channel = channel, .started = now_us()};
    if (found.kind != NATIVE) return answer(&refused, NOT_FOUND, ENOENT);
    if (plugins_forbidden || !policy_allows(POLICY_PLUGINS, (const char *)exec->name.data, exec->name.size)) {
        buffer_append(&refused.path, found.path, strlen(found.path) + 1);
        answer(&refused, NOT_STARTABLE, plugins_forbidden ? EPERM : POLICY_REFUSES);
        return buffer_free(&refused.path);
    }
    if (run == NULL) return answer(&refused, NOT_STARTABLE, EAGAIN);
    if (exec->deadline_ms == 0) return answer(&refused, DEADLINE_PASSED, 0);
    *run = refused;
    run->out.watch.fd = run->err.watch.fd = -1;
    run->out.cap = exec->out_cap < STDOUT_MAX ? exec->out_cap : STDOUT_MAX;
    run->err.cap = exec->err_cap < STDERR_MAX ? exec->err_cap : STDERR_MAX;
    run->timer = (struct watch){.fd = -1, .due = run->started + (int64_t)exec->deadline_ms * 1000, .wake = timer_wake, .owner = run};
    watch_add(&run->timer);
    buffer_append(&run->path, found.path, strlen(found.path) + 1);
    int error = nested_calls_open(&run->nested_calls, exec->path, channel);
    if (error != 0) { /* EXECUTED names the directory that failed, not the plugin */
        run->path.size = 0;
        buffer_append(&run->path, "tmpfs/", strlen("tmpfs/"));
        buffer_append(&run->path, exec->path.data, exec->path.size);
        buffer_append(&run->path, "", 1);
    }
    append_plugin_environment(exec->environment, run->nested_calls.path, &run->environment);
    if (error == 0) error = start(run, exec->in);
    if (error != 0) finish(run, error == ETXTBSY ? TEXT_BUSY : NOT_STARTABLE, error);
}

void reap_plugins(void) {
    for (struct run *run = runs; run < runs + EFFECTS_MAX; run++) {
        int status;
        if (run->channel == 0 || waitpid(run->pid, &status, WNOHANG) != run->pid) continue;
        if (run->channel == STUCK) run->channel = 0;
        else if (WIFEXITED(status)) finish(run, EXITED, WEXITSTATUS(status));
        else finish(run, run->killed ? DEADLINE_PASSED : SIGNALLED, WTERMSIG(status));
    }
}

void stop_plugins(void) {
    int64_t until = in_ms(REAP_MS);
    for (struct run *run = runs; run < runs + EFFECTS_MAX; run++)
        if (run->channel != 0 && run->pid > 0) kill_run(run);
    for (struct run *run = runs; run < runs + EFFECTS_MAX; run++) {
        if (run->channel == 0 || run->channel == STUCK) continue;
        bool ended = run->pid <= 0;
        while (!ended && now_us() < until) {
            ended = waitpid(run->pid, NULL, WNOHANG) != 0;
            if (!ended) usleep(500);
        }
        run_free(run);
        if (!ended) run->channel = STUCK;
    }
}
