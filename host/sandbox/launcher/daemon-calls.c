/* The system calls that a daemon does not need, and with which it could lead root's programs to other files: those that make symbolic links, hard links, devices
   and pipes, and those that mount: in a user namespace of its own the daemon could mount an overlay on a directory that root's programs use, and the overlay itself makes links
   there, without these calls. Landlock forbids most of them, too, but not every kernel has Landlock, and Landlock allows hard links within a directory. */
#include "launcher.h"

#include <linux/audit.h>
#include <linux/seccomp.h>

#if defined(__x86_64__)
enum { ARCHITECTURE = AUDIT_ARCH_X86_64 };
#elif defined(__aarch64__)
enum { ARCHITECTURE = (int)AUDIT_ARCH_AARCH64 };
#else
enum { ARCHITECTURE = 0 };
#endif

/* <linux/seccomp.h>: without it kernels before 5.16 make all of the process' memory accesses slower. */
enum { ALLOW_SPECULATION = 4, FIRST_X32 = 0x40000000, IO_URING_SETUP = 425, FSOPEN = 430 };

static const uint32_t forbidden[] = {
#ifdef SYS_link
    SYS_link,  SYS_symlink,  SYS_mknod,
#endif
    SYS_linkat, SYS_symlinkat, SYS_mknodat, IO_URING_SETUP, /* a ring makes links without these calls */
    SYS_mount,  FSOPEN,
};

/* <linux/fs.h>: such a rename leaves a device under the old name. Of a number of 64 bits the lower half comes first on both architectures. */
enum { RENAME_WHITEOUT_FLAG = 4, RENAME_FLAGS = offsetof(struct seccomp_data, args) + 8 * 4 };

bool forbid_links(void) {
    enum { COUNT = sizeof forbidden / sizeof *forbidden, BEFORE = 4, RENAME = BEFORE + COUNT, ALLOWED = RENAME + 3, REFUSAL = ALLOWED + 1 };
    struct sock_filter filter[REFUSAL + 1] = {
        {0x20, 0, 0, offsetof(struct seccomp_data, arch)},
        {0x15, 0, REFUSAL - 2, (uint32_t)ARCHITECTURE}, /* another architecture has other numbers */
        {0x20, 0, 0, offsetof(struct seccomp_data, nr)},
        {0x35, REFUSAL - BEFORE, 0, FIRST_X32},
    };
    if (ARCHITECTURE == 0) return false;
    for (unsigned i = 0; i < COUNT; i++) filter[BEFORE + i] = (struct sock_filter){0x15, (uint8_t)(REFUSAL - BEFORE - 1 - i), 0, forbidden[i]};
    filter[RENAME] = (struct sock_filter){0x15, 0, ALLOWED - RENAME - 1, SYS_renameat2};
    filter[RENAME + 1] = (struct sock_filter){0x20, 0, 0, RENAME_FLAGS};
    filter[RENAME + 2] = (struct sock_filter){0x45, REFUSAL - RENAME - 3, 0, RENAME_WHITEOUT_FLAG};
    filter[ALLOWED] = (struct sock_filter){0x06, 0, 0, SECCOMP_RET_ALLOW};
    filter[REFUSAL] = (struct sock_filter){0x06, 0, 0, SECCOMP_RET_ERRNO | EPERM};
    struct sock_fprog program = {.len = REFUSAL + 1, .filter = filter};
    return syscall(SYS_seccomp, (long)SECCOMP_SET_MODE_FILTER, (long)ALLOW_SPECULATION, &program) == 0;
}
