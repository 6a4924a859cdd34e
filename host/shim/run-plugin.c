#include "run-plugin.h"
#include "brain-connection.h"
#include "nest.h"
#include "plugin-path.h"
#include "spawn.h"

enum { PIECE = 65536 }; /* of what a plugin prints, as it is read */

struct capture {
    struct watch watch;
    struct buffer data;
    uint32_t cap;
    bool cut;
};

struct run {
    uint32_t channel; /* 0: this place is free */
    struct buffer path, environment; /* NUL-terminated; `K=v\0` row */
    struct watch timer;
    struct capture out, err;
    struct nest nest;
    int64_t started;
    pid_t pid;
    bool killed;
};

/* No channel of an EXEC: a place whose process is answered for, but not even SIGKILL has ended it yet. */
#define STUCK NESTED_CHANNEL

static struct run runs[EFFECTS_MAX];

/* What is past the cap is thrown away: killing the plugin for it would leave its work half done, not reading would hang it; the deadline
   bounds the time. At the pipe's end closes. */
static void capture_piece(struct watch *watch, UNUSED short revents) {
    static uint8_t piece[PIECE];
    struct capture *capture = watch->owner;
    ssize_t got = read(watch->fd, piece, sizeof piece);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) watch_close(watch);
    if (got <= 0) return;
    size_t left = capture->cap - capture->data.size, kept = (size_t)got < left ? (size_t)got : left;
    buffer_append(&capture->data, piece, kept);
    if (kept < (size_t)got) capture->cut = true;
}

static void capture_begin(struct capture *capture, int fd) {
    fcntl(fd, F_SETFL, O_NONBLOCK);
    capture->watch = (struct watch){.fd = fd, .events = POLLIN, .due = NEVER, .wake = capture_piece, .owner = capture};
    watch_add(&capture->watch);
}

/* Takes what is in the pipe now; whoever else holds its other end may go on writing, nobody reads it. */
static void capture_end(struct capture *capture) {
    int waiting = 0;
    if (capture->watch.fd >= 0) ioctl(capture->watch.fd, FIONREAD, &waiting);
    for (; waiting > 0 && capture->watch.fd >= 0; waiting -= PIECE) capture_piece(&capture->watch, POLLIN);
    watch_close(&capture->watch);
}

static void run_free(struct run *run) {
    struct buffer *buffers[] = {&run->path, &run->environment, &run->out.data, &run->err.data};
    for (int i = 0; i < 4; i++) buffer_free(buffers[i]);
    watch_remove(&run->timer);
    watch_close(&run->out.watch);
    watch_close(&run->err.watch);
    nest_close(&run->nest);
    run->channel = 0;
}

static void answer(const struct run *run, enum outcome outcome, int detail) {
    int64_t took = now_us() - run->started;
    struct message executed = {.status = outcome, .detail = (uint32_t)detail, .flags = (uint32_t)run->out.cut | (uint32_t)run->err.cut << 1};
    executed.microseconds = took > UINT32_MAX ? UINT32_MAX : (uint32_t)took;
    executed.out = buffer_bytes(&run->out.data);
    executed.err = buffer_bytes(&run->err.data);
    executed.path = text_bytes(run->path.data == NULL ? "" : (const char *)run->path.data);
    tell_brain(EXECUTED, run->channel, &executed);
}

static void finish(struct run *run, enum outcome outcome, int detail) {
    capture_end(&run->out);
    capture_end(&run->err);
    nest_close(&run->nest); /* before the answer: the brain may look whether it is gone */
    answer(run, outcome, detail);
    run_free(run);
}

/* Its stdin is a file: nobody has to go on writing, and it may read as much of it as it likes. Answers 0 or the errno of the failure. */
static int start(struct run *run, struct bytes in) {
    enum { IN, OUT, OUT_END, ERR, ERR_END, FDS };
    int fds[FDS] = {memory_file("plexus-plugin-stdin"), -1, -1, -1, -1}, error = 0;
    char *arguments[] = {(char *)run->path.data, NULL};
    bool ready = fds[IN] >= 0 && pipe2(fds + OUT, O_CLOEXEC) == 0 && pipe2(fds + ERR, O_CLOEXEC) == 0;
    if (ready && pwrite(fds[IN], in.data, in.size, 0) == (ssize_t)in.size) {
        struct spawn plugin = {.argv = arguments, .environment = &run->environment, .fds = {fds[IN], fds[OUT_END], fds[ERR_END], -1}};
        plugin.dies_with_us = true;
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

/* Its process group, and itself where it joined another one. It is not reaped yet: the number is still its own. */
static void kill_run(const struct run *run) {
    kill(-run->pid, SIGKILL);
    kill(run->pid, SIGKILL);
}

static void timer_wake(struct watch *watch, UNUSED short revents) {
    struct run *run = watch->owner;
    if (run->killed) { /* even SIGKILL does not end it now: it sits in the kernel */
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
    if (run == NULL) return answer(&refused, NOT_STARTABLE, EAGAIN);
    if (exec->deadline_ms == 0) return answer(&refused, DEADLINE_PASSED, 0);
    *run = refused;
    run->out.watch.fd = run->err.watch.fd = -1;
    run->out.cap = exec->out_cap < STDOUT_MAX ? exec->out_cap : STDOUT_MAX;
    run->err.cap = exec->err_cap < STDERR_MAX ? exec->err_cap : STDERR_MAX;
    run->timer = (struct watch){.fd = -1, .due = run->started + (int64_t)exec->deadline_ms * 1000, .wake = timer_wake, .owner = run};
    watch_add(&run->timer);
    buffer_append(&run->path, found.path, strlen(found.path) + 1);
    int error = nest_open(&run->nest, exec->path, channel);
    if (error != 0) { /* what couldn't be made is named, not the plugin, which isn't to blame */
        run->path.size = 0;
        buffer_append(&run->path, exec->path.data, exec->path.size);
        buffer_append(&run->path, "", 1);
    }
    nest_environment(&run->nest, exec->environment, &run->environment);
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
        bool gone = run->pid <= 0;
        while (!gone && now_us() < until) {
            gone = waitpid(run->pid, NULL, WNOHANG) != 0;
            if (!gone) usleep(500);
        }
        run_free(run);
        if (!gone) run->channel = STUCK;
    }
}
