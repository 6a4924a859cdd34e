#include "agent.h"
#include "ask.h"
#include "daemon-connection.h"
#include "engine-connection.h"
#include "link-changes.h"
#include "one-shot-engine.h"
#include "policy-file.h"
#include "run-plugin.h"

#include <sys/mount.h>

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
    static bool logged; /* a daemon of another version answers each of the tries, one a second */
    if (end == STREAM_MALFORMED && !logged)
        dprintf(STDERR_FILENO, "plexus agent: %s sent frames that protocol version %d does not allow%s\n", describe_engine(), PROTOCOL_VERSION, engine_violation);
    logged = end == STREAM_MALFORMED;
    stop_plugins();
    stop_asks();
    stop_changes();
    stream_close(stream);
    engine_violation[0] = 0;
    search.due = in_ms(RECONNECT_MS);
}

/*
 * Whether /proc shows this process under its own number. In a container the node's /proc has the node's numbers: plugins would find other processes
 * in /proc/PID/task/TID/ns/net. Mounts the /proc of the container's process namespace then.
 */
static bool has_own_proc(void) {
    char own[16], shown[16];
    snprintf(own, sizeof own, "%d", getpid());
    ssize_t size = readlink("/proc/self", shown, sizeof shown - 1);
    if (size < 0) return true; /* no /proc at all */
    shown[size] = 0;
    return strcmp(own, shown) == 0 || mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0;
}

/* The node's own file, because an agent makes links to its executable (nested-calls.c). It is in the first directory of CNI_PATH. */
void become_agent_in(const char *root) {
    char program[PATH_MAX];
    const char *path = getenv("CNI_PATH") ?: "/opt/cni/bin";
    snprintf(program, sizeof program, "%.*s/plexus", (int)strcspn(path, ":"), path);
    if (chroot(root) == 0 && chdir("/") == 0 && has_own_proc()) execve(program, (char *[]){program, "agent", NULL}, environ);
    dprintf(STDERR_FILENO, "plexus agent: %s in %s cannot be executed: %s\n", program, root, strerror(errno));
    _exit(1);
}

void stay_with_daemon(bool netlink_only) {
    if (netlink_only) forbid_plugins();
    if (netlink_only) setenv("PLEXUS_AGENT", "netlink-only", 1); /* tells the daemon */
    setenv("PLEXUS_AGENT_CHANGES", "1", 1); /* tells the daemon that this agent knows CHANGES */
    engine.on_end = lose_daemon;
    setenv("CNI_PATH", "/opt/cni/bin", 0);
    own_executable(); /* reads the path now: an upgrade may rename the running file */
    watch_add(&search); /* `due` is 0: the search starts at once */
}
