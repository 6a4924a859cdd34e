#include "one-shot-engine.h"
#include "cni-error.h"
#include "spawn.h"

char engine_node[PATH_MAX + 16], engine_script[PATH_MAX + 16];

static pid_t engine_pid;
static int engine_stderr = -1; /* a file in memory: the engine never blocks on it, and errors quote its end */
static bool has_script;

const char *own_executable(void) {
    static char path[PATH_MAX];
    static const char deleted[] = " (deleted)"; /* an upgrade replaced the file: the path without this leads to the new one */
    if (*path != 0) return path;
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    if (size <= 0) return NULL;
    path[size] = 0;
    char *end = path + size - strlen(deleted);
    if (end > path && strcmp(end, deleted) == 0) *end = 0;
    return path;
}

/* PLEXUS_HOME, else the link .plexus beside the executable, else /opt/plexus. */
static void find_home(char home[PATH_MAX]) {
    struct stat status;
    const char *configured = getenv("PLEXUS_HOME") ?: "", *executable = own_executable();
    if (executable == NULL) fail(CNI_IO, "Mount /proc where the runtime starts plugins.", "/proc/self/exe: %s", strerror(errno));
    const char *slash = strrchr(executable, '/');
    bool is_set = *configured != 0;
    int size = is_set ? snprintf(home, PATH_MAX, "%s", configured) : snprintf(home, PATH_MAX, "%.*s/.plexus", (int)(slash - executable), executable);
    if (size >= PATH_MAX || (!is_set && lstat(home, &status) != 0)) strcpy(home, "/opt/plexus");
}

bool has_engine(void) {
    char home[PATH_MAX];
    find_home(home);
    snprintf(engine_node, sizeof engine_node, "%s/bin/node", home);
    snprintf(engine_script, sizeof engine_script, "%s/plexusd.cjs", home);
    has_script = access(engine_script, R_OK) == 0;
    return has_script && access(engine_node, X_OK) == 0;
}

const char *missing_file(void) { return has_script ? engine_node : engine_script; }

int start_engine(int slot) {
    int sockets[2], dev_null = open("/dev/null", O_RDWR | O_CLOEXEC);
    engine_stderr = memory_file("plexus-engine-stderr");
    if (dev_null < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
        fail(CNI_TRY_LATER, "Check the limit of open files (RLIMIT_NOFILE).", "cannot start an engine: %s", strerror(errno));
    /* The engine ends a moment after the shim. It must hold none of the runtime's pipes: the runtime waits until they are closed. */
    char *arguments[] = {engine_node, "--disable-warning=ExperimentalWarning", engine_script, "--once", NULL};
    struct spawn program = {.argv = arguments, .environment = &(struct buffer){0}, .directory = "/"};
    int fds[SPAWN_FDS] = {dev_null, dev_null, engine_stderr < 0 ? dev_null : engine_stderr, sockets[1], slot};
    memcpy(program.fds, fds, sizeof fds);
    engine_pid = spawn(&program);
    int error = errno;
    close(dev_null);
    close(sockets[1]);
    if (slot >= 0) close(slot);
    if (engine_pid >= 0) return sockets[0];
    close(sockets[0]);
    close(engine_stderr);
    engine_stderr = -1;
    errno = error;
    return -1;
}

int describe_end(char *text, int at, size_t capacity) {
    char stderr_tail[STDERR_TAIL_MAX];
    int status = 0;
    bool ended = false; /* the kernel closes a process's descriptors a moment before waitpid() sees its end */
    for (int wait = 0; engine_pid > 0 && wait < 100 && !(ended = waitpid(engine_pid, &status, WNOHANG) == engine_pid); wait++) usleep(1000);
    if (ended && WIFSIGNALED(status)) at += snprintf(text + at, capacity - (size_t)at, " was killed by signal %d", WTERMSIG(status));
    else if (ended) at += snprintf(text + at, capacity - (size_t)at, " exited with status %d", WEXITSTATUS(status));
    off_t end = lseek(engine_stderr, 0, SEEK_END);
    ssize_t size = pread(engine_stderr, stderr_tail, sizeof stderr_tail, end > STDERR_TAIL_MAX ? end - STDERR_TAIL_MAX : 0);
    if (size > 0) at += snprintf(text + at, capacity - (size_t)at, "; it wrote: %.*s", (int)size, stderr_tail);
    return at;
}
