/* Starts a sandbox process in its jail: the parent sets up what needs its rights, waits, and kills; the child sets up the rest and reports it. */
#include "launcher.h"

#include <linux/seccomp.h>

enum { STDOUT = 1, LAUNCHED = 15, HEADER = 13 };

void report(const struct state *state, const char *failed) {
    uint8_t frame[256];
    char *json = (char *)frame + HEADER;
    int error = errno;
    size_t size = failed == NULL
                      ? (size_t)snprintf(json, sizeof frame - HEADER, "{\"pid\":%d,\"uid\":%u,\"controls\":%u}", state->pid, state->uid, state->controls)
                      : (size_t)snprintf(json, sizeof frame - HEADER, "{\"failed\":\"%s\",\"error\":\"%s\"}", failed, strerror(error));
    uint32_t rest = (uint32_t)(HEADER - sizeof rest + size), length = (uint32_t)size;
    memset(frame, 0, HEADER);
    memcpy(frame, &rest, sizeof rest);
    frame[4] = LAUNCHED;
    memcpy(frame + 9, &length, sizeof length);
    if (write(STDOUT, frame, HEADER + size) < 0) _exit(FAILED);
}

/* Without a command the process executes nothing. */
static bool install(struct jail *jail) {
    struct sock_fprog program = {.len = (unsigned short)jail->filter_size, .filter = jail->filter};
    return jail->filter_size > 0 && (jail->command == NULL ? forbid_execution() : restrict_execution(jail)) && syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0L, 0L) == 0;
}

static void set(struct state *state, enum control control, bool holds) {
    if (holds) state->controls |= bit(control);
    else state->controls &= ~bit(control);
}

static void close_others(void) {
    if (syscall(SYS_close_range, 3u, ~0u, 0u) == 0) return;
    for (int fd = 3; fd < 1024; fd++) close(fd); /* kernels before 5.9 */
}

/*
 * The kernel sends the signal when the parent ends, as far as the parent's user may kill this process: both have the same user by now, or the
 * parent owns the user namespace. A change of the user takes the signal away, so it comes last. A parent that ended before has closed the pipe:
 * the kernel closes a process' descriptors before it looks for signals to send.
 */
static void die_with_parent(int start) {
    struct pollfd parent = {.fd = start};
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || poll(&parent, 1, 0) != 0) _exit(FAILED);
}

/* The sandbox process: `start` has what the parent has set up, and stays open in the parent for as long as it lives. */
static void enter_jail(struct jail *jail, unsigned long namespaces, int start) {
    struct state state;
    sigset_t none;
    if (read(start, &state, sizeof state) != sizeof state) _exit(FAILED);
    bool has_user_namespace = (namespaces & CLONE_NEWUSER) != 0, has_root = (namespaces & CLONE_NEWNS) != 0;
    const char *absent = open_paths(jail);
    if (absent != NULL) {
        char failed[160];
        snprintf(failed, sizeof failed, "cannot open %.*s", (int)(sizeof failed - 16), absent);
        report(&state, failed);
        _exit(FAILED);
    }
    /* A session of its own would be a scheduling group of its own (autogroup), which makes a warm call 45 % slower. */
    set(&state, PROCESS_GROUP, setpgid(0, 0) == 0);
    /* A tmpfs of this user namespace takes files of its users only. Without one, mounting needs the rights that the change of the user takes away. */
    bool changes = jail->uid_count > 0 && (state.controls & bit(OWN_UID)) != 0;
    if (has_user_namespace && changes) set(&state, OWN_UID, become(&state));
    set(&state, FILES, has_root && make_root(jail));
    if (!has_user_namespace && changes && !become(&state)) {
        report(&state, "the parent changed its user, but not the process");
        _exit(FAILED);
    }
    if (jail->own_uid_only && (state.controls & bit(OWN_UID)) == 0) {
        errno = EPERM;
        report(&state, "the process would keep the launch server's user");
        _exit(FAILED);
    }
    set(&state, LIMITS, set_limits(jail));
    set(&state, NO_NEW_PRIVILEGES, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    set(&state, NO_CAPABILITIES, drop_capabilities());
    set(&state, LANDLOCK, restrict_files(jail));
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    die_with_parent(start);
    if (chdir("/") != 0) _exit(FAILED);
    close_others();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    set(&state, SYSTEM_CALLS, install(jail));
    report(&state, NULL);
}

/* This process only waits for the sandbox process and kills it. Without its change of the user the sandbox process keeps its user, too. */
static void drop_rights(struct state *state, bool has_user_namespace) {
    /* The owner of a user namespace may kill its processes; otherwise only their own user may. */
    if (!has_user_namespace && (state->controls & bit(OWN_UID)) != 0 && !become(state)) {
        state->controls &= ~bit(OWN_UID);
        state->uid = geteuid();
    }
    drop_capabilities();
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    close(1);
    close(2);
}

int launch(struct jail *jail, int asker) {
    int start[2];
    struct state state = {0};
    sigset_t ended;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    if (sigprocmask(SIG_BLOCK, &ended, NULL) != 0 || pipe2(start, O_CLOEXEC) != 0) {
        report(&state, "the launcher has no pipe");
        return FAILED;
    }
    state.uid = jail->uid_count > 0 ? jail->first_uid + (unsigned)getpid() % jail->uid_count : geteuid();
    state.inner_id = state.uid;
    if (jail->uid_count > 0) state.controls = bit(OWN_UID);
    unsigned long namespaces = jail->namespaces;
    state.pid = fork_into(&namespaces);
    if (state.pid == 0) {
        close(start[1]);
        enter_jail(jail, namespaces, start[0]);
        return INSIDE;
    }
    if (state.pid < 0) {
        report(&state, "the launcher cannot fork");
        return FAILED;
    }
    state.controls |= namespace_controls(namespaces);
    if ((namespaces & CLONE_NEWUSER) != 0) map_ids(jail, &state);
    if (join_cgroup(jail->cgroup, state.pid, jail->daemon_uid)) state.controls |= bit(CGROUP);
    int signals = signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
    /* First: the sandbox process relies on a parent that may kill it. */
    drop_rights(&state, (namespaces & CLONE_NEWUSER) != 0);
    if (write(start[1], &state, sizeof state) != sizeof state) return FAILED; /* the sandbox process ends, because it reads less */
    close(start[0]);
    bool is_copy = jail->supervisor > 0;
    struct supervision supervision = {.child = state.pid, .signals = signals, .start = start[1], .asker = asker, .crashes = is_copy ? jail->crashes : -1};
    if (is_copy) supervise_elsewhere(&supervision, jail->supervisor);
    supervise(&supervision);
}
