/* The parts of the launcher. main.c names its arguments. */
#ifndef PLEXUS_LAUNCHER_H
#define PLEXUS_LAUNCHER_H

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A control that was set up, as a bit of the report. controls.ts has the same list. */
enum control {
    USER_NAMESPACE,
    PID_NAMESPACE,
    NETWORK_NAMESPACE,
    IPC_NAMESPACE,
    UTS_NAMESPACE,
    FILES, /* a mount namespace whose root has the listed paths only */
    OWN_UID,
    NO_NEW_PRIVILEGES,
    NO_CAPABILITIES,
    SYSTEM_CALLS,
    LANDLOCK,
    LIMITS,
    CGROUP,
    PROCESS_GROUP,
};

enum { MAX_PATHS = 64, MAX_LIMITS = 16, MAX_FILTER = 1024 };

/* Exit statuses. */
enum { FAILED = 125, BAD_USAGE = 124 };

/* Answer of launch() in the sandbox process. */
enum { INSIDE = -1 };

/* A request to the launch server or to a zygote: its bytes, and its descriptors: stdin, stdout, and the connection `asker` (supervise()). */
enum { REQUEST_MAX = 4096, ASKED_FDS = 3 };

/* The daemon's end of the connection to its launch server, also in the programs that the daemon starts to ask it. */
enum { SERVER_FD = 3 };

struct readable {
    const char *path;
    bool executable;
    int fd; /* O_PATH, in the mount namespace of the sandbox process */
};

enum { DAEMON_PATHS_MAX = 64, SHARED_MAX = 64, STEPS_MAX = 64, TYPE_MAX = 255, ZYGOTE_MAX = 256, SOCKETS_MAX = 16 };

/* The daemon's file of the runtime's network configuration. */
struct configuration {
    char *directory; /* absolute */
    char *name;      /* the file's name; NULL: the daemon writes none */
    const char *type; /* under which the runtime calls Plexus */
    const char *template;   /* the file that the daemon completes; NULL: the members of Plexus' step are not compared (template.c) */
    const char *kubeconfig; /* that the daemon may name; NULL: none but the template's */
    unsigned reader;  /* the group that may read the file; 0: none */
};

/* A part of a JSON text, which is read from its start. */
struct text {
    const char *at, *end;
};

/* The types of a configuration's steps. */
struct steps {
    char types[STEPS_MAX][TYPE_MAX + 1];
    size_t count;
};

/* A directory that the daemon shares with root (share.c). */
struct shared {
    const char *path; /* absolute */
    bool with_all_below;
};

/* Absolute paths of sockets (sockets.c). */
struct paths {
    const char *each[SOCKETS_MAX];
    size_t count;
};

/* The jail that the arguments request. */
struct jail {
    unsigned first_uid, uid_count; /* 0 uids: the process keeps the engine's uid */
    unsigned long namespaces;      /* CLONE_NEW… */
    struct readable paths[MAX_PATHS];
    size_t path_count;
    struct {
        int resource;
        unsigned long long value;
    } limits[MAX_LIMITS];
    size_t limit_count;
    struct sock_filter filter[MAX_FILTER];
    size_t filter_size;
    const char *cgroup; /* a directory, or NULL */
    struct configuration configuration;              /* only with --serve, like the next */
    const char *daemon_paths[DAEMON_PATHS_MAX];       /* files and directories that the daemon may change; none: all */
    size_t daemon_path_count;
    unsigned daemon_uid; /* also its group; 0: the daemon keeps the launcher's user */
    unsigned joined;     /* a further group of a daemon that keeps the user; 0: none */
    struct shared shared[SHARED_MAX];
    size_t shared_count;
    struct paths connected, listened; /* sockets of root that the daemon uses */
    char *zygote[ZYGOTE_MAX + 1]; /* the zygote's program and its arguments */
    size_t zygote_size;
    const char *supervisor_path; /* only in a zygote, like the next: the launcher */
    int supervisor;              /* its descriptor */
    int crashes;                 /* a pipe that is told of a crash */
    bool own_uid_only;  /* no process is started that would keep the launcher's user */
    char **command; /* NULL: the process executes nothing */
};

/* The controls in force. The parent sends this state to the sandbox process, which completes and reports it. */
struct state {
    unsigned controls; /* bits of enum control */
    int pid;           /* of the sandbox process, in the engine's pid namespace */
    unsigned uid;      /* of the sandbox process, in the engine's user namespace */
    unsigned inner_id; /* uid and gid in the process' own user namespace; equals `uid` without one */
};

/* launch.c */
void report(const struct state *state, const char *failed); /* writes the report to stdout, or what failed */
int launch(struct jail *jail, int asker);                   /* answers INSIDE, or an exit status if it fails; `asker`: see supervise(), or -1 */

/* main.c: the command in the jail. */
_Noreturn void execute(char **command);

/* requests.c */
long receive_request(int connection, char *text, int fds[ASKED_FDS]); /* answers its size (`fds` are -1 for a request without descriptors), 0 for one that is not understood, and -1 when the other side has ended */
bool send_request(int connection, const char *text, size_t size, const int fds[ASKED_FDS], int flags);
bool send_answer(int connection, int error, int fd); /* `fd`: goes with the answer; -1: none */
bool receive_answer(int connection, int *error, int *fd); /* `fd` stays as it is without a descriptor. False without an answer: the other side has ended */
bool complete_jail(struct jail *jail, char *text, long size); /* the jail by a request, its numbers as the last arguments of the command */

/* path-requests.c: requests without descriptors. */
bool is_about_paths(const char *verb);
void begin_path_request(const struct jail *jail, char *text, long size, int connection);
int awaited_answer(void);             /* the descriptor to poll for the answer of the last request; -1: none is due */
void forward_answer(int connection); /* waits for that answer */

/* zygote.c: the launch server's connection to its zygote. */
bool ask_zygote(const struct jail *jail, const char *text, size_t size, const int fds[ASKED_FDS]);
void forget_zygote(void); /* in a child of the server */

/* serve.c: executes the daemon without rights, beside a server that starts its sandbox processes. Answers an exit status if it fails. */
int serve(char **argv);

/* ask.c: asks that server for a process, and ends as the process ends; or to change the configuration, and ends with the errno. */
_Noreturn void ask(char **argv);

/* configuration.c: answers 0 or an errno. */
int change_configuration(const struct configuration *configuration, const char *verb, const char *name);

/* share.c: both answer 0 or an errno. */
int share_all(const struct jail *jail);
int share_one(const struct jail *jail, char *path);

/* sockets.c: answers 0 or an errno. `fd`: the descriptor, if the request has one. */
int open_socket(const struct jail *jail, const char *verb, const char *path, int *fd);

/* fixed-path.c: the directory of an absolute path, and the last part of the path. Answers -1 with errno: EPERM if the daemon could lead the path elsewhere. */
int open_directory_of(const char *wanted, unsigned daemon, const char **name);

/* json-text.c: each takes what comes next, after any space. Answers false for something else. */
void skip_space(struct text *text);
bool take(struct text *text, char wanted);
bool take_string(struct text *text, struct text *string, bool *plain); /* `plain`: it has printable ASCII characters without escapes only */
bool take_value(struct text *text, int depth); /* `depth`: of the arrays and objects around it */
bool is_key(struct text string, const char *wanted); /* as Go compares keys; `wanted` has no capital letters */

/* template.c: whether Plexus' steps in the list have the template's members, and no others but those that the daemon sets. */
bool keeps_template(const struct configuration *configuration, struct text list, struct text template);

/* steps.c: answers false for a text that is no list or could be read otherwise. */
bool read_steps(const char *from, size_t size, struct steps *steps);
bool has_step(const struct steps *steps, const char *type);

static inline unsigned bit(enum control control) { return 1u << control; }

/* arguments.c: answers false for an argument that is not understood. */
bool read_arguments(struct jail *jail, char **argv);
bool read_number(const char **text, unsigned long long *number);
bool add_limit(struct jail *jail, int resource, unsigned long long value);

/* namespaces.c */
int fork_into(unsigned long *namespaces); /* as fork(); takes away the namespaces that cannot be had */
unsigned namespace_controls(unsigned long namespaces);
void map_ids(const struct jail *jail, struct state *state);
bool join_cgroup(const char *directory, int pid, unsigned daemon); /* `daemon`: 0, or the user that must be able to write the cgroup's list of processes */

/* rights.c */
bool become(const struct state *state);
bool become_daemon(unsigned id); /* the user and the group; 0: keeps both. Drops the bounding set, and no other capability */
bool keep_capabilities(uint64_t kept); /* a bit for each; those that the process lacks stay lacking */
bool drop_capabilities(void);
bool bequeath_capabilities(void); /* the program that is executed next has the capabilities of this process */
bool set_limits(const struct jail *jail);

/* root.c */
const char *open_paths(struct jail *jail); /* answers the path that cannot be opened, or NULL */
bool make_root(const struct jail *jail);

/* landlock.c */
bool restrict_files(const struct jail *jail);
long restrict_daemon(const struct jail *jail); /* answers the ABI of Landlock, or 0 if the kernel refuses */

/* daemon-calls.c: this process and its children make no link, device, pipe or mount. False: the kernel refuses the filter. */
bool forbid_links(void);

/* execute.c: moves the command, and leaves the process no other program to execute. Needs no_new_privs. */
bool restrict_execution(struct jail *jail);
bool forbid_execution(void);

/* Descriptors of -1 are absent. */
struct supervision {
    int child;   /* the sandbox process */
    int signals; /* a signalfd of SIGCHLD */
    int start;   /* open for as long as this process lives: enter_jail() */
    int asker;   /* gets the child's status */
    int crashes; /* gets a byte when the child has crashed */
};

/*
 * supervise.c: ends as the child ends, after sending the child's status. Kills the child when the engine
 * closes its end of stdin, or when the asker has ended.
 */
_Noreturn void supervise(const struct supervision *supervision);
_Noreturn void supervise_elsewhere(const struct supervision *supervision, int supervisor); /* the same, in the launcher that is executed anew */
_Noreturn void read_supervision(char **numbers);
_Noreturn void end_as(int status); /* ends as a process with this status of waitpid() has ended */

/* probe.c: tries what an escaped guest would try. */
_Noreturn void probe(char **arguments);

#endif
