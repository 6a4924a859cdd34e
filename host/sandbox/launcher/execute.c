/* One execve(2) is left to the sandbox process: the launcher's own, of the runtime. A guest that executes a program from another thread would lose the signal
   that the kernel sends when its parent ends. A filter of system calls sees addresses and no text, so the addresses of the path and of the arguments are the
   permission: they are random, and no later program learns them. */
#include "launcher.h"

#include <linux/seccomp.h>

enum { PAGE = 4096 };

/* A page at a random address of 47 bits; NULL without one. */
static void *random_page(void) {
    uint64_t address;
    if (syscall(SYS_getrandom, &address, sizeof address, 0) != sizeof address) return NULL;
    address &= UINT64_C(0x3ffffffff000);
    long page = syscall(SYS_mmap, address, (long)PAGE, 3L /* PROT_READ | PROT_WRITE */, 0x22L /* MAP_PRIVATE | MAP_ANONYMOUS */, -1L, 0L);
    return page == -1 ? NULL : (void *)page;
}

/* Moves the command to such pages. False: no page could be mapped, or the command is longer than a page. */
static bool hide(struct jail *jail) {
    char *path = random_page();
    char **arguments = random_page();
    size_t count = 0;
    while (jail->command[count] != NULL) count++;
    if (path == NULL || arguments == NULL || strlen(jail->command[0]) >= PAGE || count >= PAGE / sizeof *arguments) return false;
    strcpy(path, jail->command[0]);
    memcpy(arguments, jail->command, (count + 1) * sizeof *arguments);
    arguments[0] = path;
    jail->command = arguments;
    return true;
}

/* Refuses the call if half `half` of argument `argument` is not this; `rest`: instructions up to the refusal. */
#define CHECK(argument, half, value, rest)                                                                              \
    {0x20, 0, 0, (uint32_t)(offsetof(struct seccomp_data, args) + 8 * (argument) + 4 * (half))}, {0x15, 0, (rest), (uint32_t)((uint64_t)(uintptr_t)(value) >> 32 * (half))}

static bool add_filter(const struct sock_fprog *program) { return syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0L, 0L) == 0; }

bool forbid_execution(void) {
    struct sock_filter filter[] = {
        {0x20, 0, 0, offsetof(struct seccomp_data, nr)},
        {0x15, 0, 1, SYS_execve},
        {0x06, 0, 0, SECCOMP_RET_ERRNO | EPERM},
        {0x06, 0, 0, SECCOMP_RET_ALLOW},
    };
    return add_filter(&(struct sock_fprog){.len = sizeof filter / sizeof *filter, .filter = filter});
}

bool restrict_execution(struct jail *jail) {
    if (!hide(jail)) return false;
    struct sock_filter filter[] = {
        {0x20, 0, 0, offsetof(struct seccomp_data, nr)},
        {0x15, 0, 8, SYS_execve},
        CHECK(0, 0, jail->command[0], 7),
        CHECK(0, 1, jail->command[0], 5),
        CHECK(1, 0, jail->command, 3),
        CHECK(1, 1, jail->command, 1),
        {0x06, 0, 0, SECCOMP_RET_ALLOW},
        {0x06, 0, 0, SECCOMP_RET_ERRNO | EPERM},
    };
    return add_filter(&(struct sock_fprog){.len = sizeof filter / sizeof *filter, .filter = filter});
}
