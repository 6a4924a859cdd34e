/* The namespaces of the sandbox process, its ids there, and its cgroup. */
#include "launcher.h"

#include <linux/magic.h>
#include <sys/vfs.h>

static const struct {
    unsigned long flag;
    enum control control;
} kinds[] = {
    {CLONE_NEWUSER, USER_NAMESPACE}, /* first: it gives the right to the others */
    {CLONE_NEWPID, PID_NAMESPACE},
    {CLONE_NEWNET, NETWORK_NAMESPACE},
    {CLONE_NEWIPC, IPC_NAMESPACE},
    {CLONE_NEWUTS, UTS_NAMESPACE},
    {CLONE_NEWNS, FILES},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

unsigned namespace_controls(unsigned long namespaces) {
    unsigned controls = 0;
    for (int i = 0; i < KINDS; i++)
        if (kinds[i].flag != CLONE_NEWNS && (namespaces & kinds[i].flag) != 0) controls |= bit(kinds[i].control);
    return controls;
}

/* The child has a copy of the memory, as after fork(). */
static int fork_with(unsigned long namespaces) { return (int)syscall(SYS_clone, namespaces | SIGCHLD, 0L, 0L, 0L, 0L); }

/* Whether a child can be made in these namespaces; the child ends at once. */
static bool allowed(unsigned long namespaces) {
    int child = fork_with(namespaces);
    if (child == 0) _exit(0);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
    return child > 0;
}

int fork_into(unsigned long *namespaces) {
    int child = fork_with(*namespaces);
    if (child >= 0) return child;
    unsigned long wanted = *namespaces;
    *namespaces = 0;
    for (int i = 0; i < KINDS; i++)
        if ((wanted & kinds[i].flag) != 0 && allowed(*namespaces | kinds[i].flag)) *namespaces |= kinds[i].flag;
    return fork_with(*namespaces);
}

static bool write_file(const char *directory, const char *name, const char *text) {
    char path[512];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", directory, name) >= sizeof path) return false;
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool written = write(fd, text, strlen(text)) == (long)strlen(text);
    close(fd);
    return written;
}

/* The id by which a process of the engine's own user is known in its user namespace: not 0, so that execve(2) gives no capabilities. */
enum { INNER_NOBODY = 65534 };

static bool map_one(const char *directory, const char *name, unsigned inside, unsigned outside) {
    char text[48];
    snprintf(text, sizeof text, "%u %u 1\n", inside, outside);
    return write_file(directory, name, text);
}

/* The ids are mapped from outside: only there are the rights to map another user's ids. Without a map a process can neither change its user nor go on. */
void map_ids(const struct jail *jail, struct state *state) {
    char directory[32];
    snprintf(directory, sizeof directory, "/proc/%d", state->pid);
    bool other = jail->uid_count > 0;
    if (other && map_one(directory, "uid_map", state->uid, state->uid)) {
        if (map_one(directory, "gid_map", state->uid, state->uid)) return;
        write_file(directory, "setgroups", "deny");
        map_one(directory, "gid_map", state->uid, (unsigned)syscall(SYS_getegid));
        return;
    }
    state->uid = geteuid();
    state->inner_id = INNER_NOBODY;
    state->controls &= ~bit(OWN_UID);
    if (jail->own_uid_only) return;
    map_one(directory, "uid_map", INNER_NOBODY, state->uid);
    write_file(directory, "setgroups", "deny");
    map_one(directory, "gid_map", INNER_NOBODY, (unsigned)syscall(SYS_getegid));
}

/* The daemon could write the file itself: a process of its own enters no cgroup that root has not given to it, and so keeps the daemon's bounds. */
static bool is_of_daemon(int fd, unsigned daemon) {
    struct stat status;
    if (daemon == 0) return true;
    if (fstat(fd, &status) != 0) return false;
    return (status.st_mode & (status.st_uid == daemon ? 0200u : status.st_gid == daemon ? 0020u : 0002u)) != 0;
}

bool join_cgroup(const char *directory, int pid, unsigned daemon) {
    char path[512], text[16];
    struct statfs system;
    if (directory == NULL || (size_t)snprintf(path, sizeof path, "%s/cgroup.procs", directory) >= sizeof path) return false;
    int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC), size = snprintf(text, sizeof text, "%d", pid);
    /* The daemon names the directory, and may not make root write into any other file. */
    bool is_cgroup = fd >= 0 && fstatfs(fd, &system) == 0 && system.f_type == CGROUP2_SUPER_MAGIC;
    bool joined = is_cgroup && is_of_daemon(fd, daemon) && write(fd, text, (size_t)size) == size;
    close(fd); /* -1 where open failed: harmless */
    return joined;
}
