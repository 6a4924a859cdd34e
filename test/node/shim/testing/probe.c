/* A plugin that does what a shell script cannot do or see. The variable CNI_PROBE chooses its behaviour. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Prints what the process got from the shim, as JSON. */
static int report(int argc, char **argv) {
    char line[256], directory[4096];
    printf("{\"argc\":%d,\"argv0\":\"%s\",\"cwd\":\"%s\",\"leads\":%s", argc, argv[0], getcwd(directory, sizeof directory), getpgrp() == getpid() ? "true" : "false");
    FILE *status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "Sig", 3) == 0 && strchr("BIC", line[3]) != NULL) printf(",\"%.6s\":\"%.16s\"", line, line + 8);
    fclose(status);
    printf(",\"fds\":[");
    const char *comma = "";
    for (int fd = 0; fd < 1024; fd++)
        if (dup2(fd, fd) == fd) printf("%s%d", comma, fd), comma = ",";
    printf("],\"env\":[");
    comma = "";
    for (char **entry = environ; *entry != NULL; entry++) printf("%s\"%s\"", comma, *entry), comma = ",";
    printf("]}");
    return 0;
}

/* Writes CNI_PROBE_MIB mebibytes to descriptor CNI_PROBE_FD. */
static int print(void) {
    static char block[1 << 20];
    memset(block, 'x', sizeof block);
    for (int i = atoi(getenv("CNI_PROBE_MIB")); i > 0; i--)
        for (size_t done = 0; done < sizeof block;) {
            ssize_t wrote = write(atoi(getenv("CNI_PROBE_FD")), block + done, sizeof block - done);
            if (wrote < 0) return 3;
            done += (size_t)wrote;
        }
    return 7;
}

/* Ends at once. A child goes on writing to stdout, its pid first. */
static int leave_daemon(void) {
    int ready[2];
    if (pipe(ready) != 0) return 1;
    if (fork() == 0) {
        setsid();
        signal(SIGPIPE, SIG_IGN);
        dprintf(1, "%d\n", getpid());
        if (write(ready[1], "", 1) != 1) return 1;
        for (int i = 0; i < 60000; i++) {
            dprintf(1, "still here\n");
            usleep(10000);
        }
        _exit(0);
    }
    char byte;
    return read(ready[0], &byte, 1) == 1 ? 0 : 1;
}

/* Makes a child in the same process group. Both ignore every signal that can be ignored. */
static int stay(void) {
    for (int number = 1; number < NSIG; number++) signal(number, SIG_IGN);
    pid_t child = fork();
    if (child > 0) dprintf(2, "%d %d\n", getpid(), child);
    for (;;) pause();
}

int main(int argc, char **argv) {
    const char *probe = getenv("CNI_PROBE");
    if (strcmp(probe, "report") == 0) return report(argc, argv);
    if (strcmp(probe, "print") == 0) return print();
    if (strcmp(probe, "leave-daemon") == 0) return leave_daemon();
    if (strcmp(probe, "stay") == 0) return stay();
    if (strcmp(probe, "join") == 0) return setpgid(0, getpgid(getppid())) == 0 ? stay() : 1;
    if (strcmp(probe, "segfault") == 0) return raise(SIGSEGV);
    return 99;
}
