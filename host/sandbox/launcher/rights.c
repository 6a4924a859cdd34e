/* User, capabilities and resource limits of the sandbox process. */
#include "launcher.h"

#include <linux/capability.h>
#include <linux/securebits.h>

enum { LAST_CAPABILITY = 63 };

/* Leaves the engine's user and groups. */
bool become(const struct state *state) {
    unsigned id = state->inner_id;
    return syscall(SYS_setgroups, 0, NULL) == 0 && syscall(SYS_setresgid, id, id, id) == 0 && syscall(SYS_setresuid, id, id, id) == 0;
}

bool become_daemon(unsigned id) {
    struct state daemon = {.inner_id = id};
    if (id == 0) return true;
    /* Before the change of the user, which takes away the capability that this needs. */
    for (unsigned long capability = 0; capability <= LAST_CAPABILITY; capability++) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    return become(&daemon);
}

/* The bits that keep uid 0 from being given capabilities by execve(2), set for good. */
static const unsigned long securebits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
                                        SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

bool keep_capabilities(uint64_t kept) {
    for (unsigned long capability = 0; capability <= LAST_CAPABILITY; capability++)
        if ((kept >> capability & 1) == 0) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    memset(sets, 0, sizeof sets);
    if (kept != 0 && syscall(SYS_capget, &header, sets) != 0) return false;
    for (int half = 0; half < _LINUX_CAPABILITY_U32S_3; half++) {
        sets[half].permitted &= (uint32_t)(kept >> 32 * half);
        sets[half].effective = sets[half].permitted;
        sets[half].inheritable = 0;
    }
    return syscall(SYS_capset, &header, sets) == 0;
}

bool bequeath_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    memset(sets, 0, sizeof sets);
    if (syscall(SYS_capget, &header, sets) != 0) return false;
    for (int half = 0; half < _LINUX_CAPABILITY_U32S_3; half++) sets[half].inheritable = sets[half].permitted;
    if (syscall(SYS_capset, &header, sets) != 0) return false;
    for (unsigned long capability = 0; capability <= LAST_CAPABILITY; capability++)
        if ((sets[capability / 32].permitted >> capability % 32 & 1) != 0 && syscall(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0L, 0L) != 0) return false;
    return true;
}

/* Bounding set and secure bits need CAP_SETPCAP. Without it no_new_privs keeps execve(2) from giving a capability, too. */
bool drop_capabilities(void) {
    prctl(PR_SET_SECUREBITS, securebits, 0, 0, 0);
    return keep_capabilities(0);
}

bool set_limits(const struct jail *jail) {
    bool set = jail->limit_count > 0;
    for (size_t i = 0; i < jail->limit_count; i++) {
        uint64_t limit[2] = {jail->limits[i].value, jail->limits[i].value};
        if (syscall(SYS_prlimit64, 0, jail->limits[i].resource, limit, NULL) != 0) set = false;
    }
    return set;
}
