/* Starts a sandbox process in a jail. The engine starts this program in place of Node, with the sandbox process' two pipes:

     plexus-sandbox [OPTION VALUE]… -- COMMAND [ARGUMENT]…

     --uids FIRST:COUNT      the process gets the uid and gid FIRST + (this program's pid modulo COUNT)
     --namespaces FLAGS      CLONE_NEW… of clone(2), hexadecimal
     --read PATH             a file or directory that the process may read; the process sees no other
     --execute PATH          the same, and the process may execute it
     --limit RESOURCE:VALUE  setrlimit(2)
     --filter BYTES          a seccomp program, hexadecimal
     --cgroup DIRECTORY      the cgroup that the process joins

     plexus-sandbox --serve [OPTION VALUE]… -- COMMAND [ARGUMENT]… -- DAEMON [ARGUMENT]…     executes the daemon without rights (serve.c)
     plexus-sandbox --ask [warm] BYTES CGROUP [NUMBER]…                                     a sandbox process of that daemon (ask.c)
     plexus-sandbox --ask file VERB NAME                                                    a change of its configuration (configuration.c)

   With --serve there are further options, for the daemon:

     --zygote ARGUMENT       the zygote's program, then its arguments, each with this option (zygote.c)
     --supervisor PATH       the launcher itself: only a zygote's (host/sandbox/zygote/addon.c)
     --configuration PATH    the daemon's file of the runtime's network configuration
     --type TYPE             the type of Plexus' own step in that file
     --template PATH         root's template of that step (template.c); without one the step has any members
     --kubeconfig PATH       the kubeconfig that the daemon may name in that step, where the template names none
     --daemon-uid UID        the daemon's user and group; without one the daemon keeps the launcher's
     --join GID              without that user: a group that the daemon is in, with what a daemon of that group has left
     --share DIRECTORY       a directory that root and that user write, with all below (share.c)
     --share-directory DIRECTORY   the same, without the directories below
     --connect PATH          a socket of root to which that user gets connections (sockets.c)
     --listen PATH           a socket in root's directory that is opened for that user
     --write PATH            a file or directory that the daemon may change; without one it may change all

   The command `probe` is built in (probe.c). A control that cannot be set up is left out, and the engine decides: before the command starts,
   one frame (frames.ts, type LAUNCHED) on stdout names the controls that hold. The command's environment is fixed. */
#include "launcher.h"

_Noreturn void execute(char **command) {
    /* glibc gives each thread of V8 an arena, which keeps the memory that the compilers free. */
    static char *const environment[] = {"MALLOC_ARENA_MAX=1", NULL};
    struct state none = {0};
    if (strcmp(command[0], "probe") == 0) probe(command + 1);
    execve(command[0], command, environment);
    report(&none, "the runtime cannot be executed");
    _exit(FAILED);
}

int main(int argc, char **argv) {
    static struct jail jail;
    struct state none = {0};
    if (argc > 1 && strcmp(argv[1], "--serve") == 0) return serve(argv + 1);
    if (argc > 2 && strcmp(argv[1], "--supervise") == 0) read_supervision(argv + 2);
    if (argc > 3 && strcmp(argv[1], "--ask") == 0) ask(argv + 2);
    if (argc < 1 || !read_arguments(&jail, argv)) {
        report(&none, "the launcher's arguments are not understood");
        return BAD_USAGE;
    }
    int status = launch(&jail, -1);
    if (status == INSIDE) execute(jail.command);
    return status;
}
