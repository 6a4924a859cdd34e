/* Landlock. A sandbox process may read the listed paths, and execute the executable ones. It may write nothing, bind and connect no TCP socket, reach no
   abstract socket and signal no process outside. A daemon may make no link, device or pipe, reach no abstract socket and signal no process but those
   that it starts. Each kernel has a part of this; the first part came with Linux 5.13. */
#include "launcher.h"

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

enum { ABI_VERSION = 1, RULE_PATH = 1 };
enum {
    MAY_EXECUTE = 1 << 0,
    MAY_WRITE_FILE = 1 << 1,
    MAY_READ_FILE = 1 << 2,
    MAY_READ_DIRECTORY = 1 << 3,
    MAY_MAKE_CHARACTER_DEVICE = 1 << 6,
    MAY_MAKE_PIPE = 1 << 10,
    MAY_MAKE_BLOCK_DEVICE = 1 << 11,
    MAY_MAKE_SYMBOLIC_LINK = 1 << 12,
    MAY_MOVE = 1 << 13, /* to another directory */
    MAY_TRUNCATE = 1 << 14,
};

struct ruleset {
    uint64_t files, network, scopes;
};

struct path_rule {
    uint64_t allowed;
    int32_t fd;
} __attribute__((packed));

/* The kinds of access to files that an ABI handles. */
static uint64_t file_accesses(long abi) {
    int kinds = abi >= 5 ? 16 : abi >= 3 ? 15 : abi >= 2 ? 14 : 13;
    return (UINT64_C(1) << kinds) - 1;
}

static bool allow(int ruleset, const struct readable *readable) {
    struct stat status;
    if (fstat(readable->fd, &status) != 0) return false;
    struct path_rule rule = {.allowed = MAY_READ_FILE, .fd = readable->fd};
    if (readable->executable) rule.allowed |= MAY_EXECUTE;
    if (S_ISDIR(status.st_mode)) rule.allowed |= MAY_READ_DIRECTORY;
    return syscall(SYS_landlock_add_rule, ruleset, RULE_PATH, &rule, 0) == 0;
}

static long abi_version(void) { return syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, ABI_VERSION); }

/* Answers the descriptor of a new set of rules, without those that the ABI lacks. */
static int create(long abi, struct ruleset rules) {
    size_t size = abi >= 6 ? sizeof rules : abi >= 4 ? offsetof(struct ruleset, scopes) : offsetof(struct ruleset, network);
    return (int)syscall(SYS_landlock_create_ruleset, &rules, size, 0);
}

/* Closes the set. */
static bool enforce(int ruleset, bool complete) {
    bool restricted = complete && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    close(ruleset);
    return restricted;
}

bool restrict_files(const struct jail *jail) {
    long abi = abi_version();
    if (abi < 1 || jail->path_count == 0) return false;
    int ruleset = create(abi, (struct ruleset){.files = file_accesses(abi), .network = abi >= 4 ? 3 : 0, .scopes = abi >= 6 ? 3 : 0});
    if (ruleset < 0) return false;
    bool allowed = true;
    for (size_t i = 0; i < jail->path_count && allowed; i++) allowed = allow(ruleset, &jail->paths[i]);
    return enforce(ruleset, allowed);
}

/* The daemon may change the path and, of a directory, everything below. A path that cannot be opened is passed over: it cannot be changed then. */
static bool allow_changes(int ruleset, const char *path, uint64_t handled) {
    struct stat status;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0) return true;
    uint64_t made = MAY_MAKE_CHARACTER_DEVICE | MAY_MAKE_PIPE | MAY_MAKE_BLOCK_DEVICE | MAY_MAKE_SYMBOLIC_LINK;
    struct path_rule rule = {.allowed = handled & ~made, .fd = fd};
    bool is_known = fstat(fd, &status) == 0;
    if (is_known && !S_ISDIR(status.st_mode)) rule.allowed &= MAY_WRITE_FILE | MAY_TRUNCATE;
    bool allowed = is_known && syscall(SYS_landlock_add_rule, ruleset, RULE_PATH, &rule, 0) == 0;
    close(fd);
    return allowed;
}

long restrict_daemon(const struct jail *jail) {
    long abi = abi_version();
    if (abi < 2) return 0; /* ABI 1 always forbids to move files to another directory, as the daemon does for reuse */
    uint64_t made = MAY_MAKE_CHARACTER_DEVICE | MAY_MAKE_PIPE | MAY_MAKE_BLOCK_DEVICE | MAY_MAKE_SYMBOLIC_LINK | MAY_MOVE;
    uint64_t changes = file_accesses(abi > 3 ? 3 : abi) & ~(uint64_t)(MAY_EXECUTE | MAY_READ_FILE | MAY_READ_DIRECTORY);
    uint64_t files = jail->daemon_path_count > 0 ? changes : made;
    int ruleset = create(abi, (struct ruleset){.files = files, .scopes = abi >= 6 ? 3 : 0});
    if (ruleset < 0) return 0;
    bool complete = true;
    for (size_t i = 0; i < jail->daemon_path_count && complete; i++) complete = allow_changes(ruleset, jail->daemon_paths[i], files);
    if (jail->daemon_path_count == 0) complete = allow_changes(ruleset, "/", files);
    return enforce(ruleset, complete) ? abi : 0;
}
