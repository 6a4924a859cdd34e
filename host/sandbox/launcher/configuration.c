/* The daemon's file in the runtime's directory of network configurations, which the launch server changes in the daemon's place. The file's steps are the shim
   and what the file had before: only other programs, which are root, add a step that the runtime executes without the node's policy. The shim's step is root's
   template, completed.

     write   stdin has the bytes of the file to replace, after their number (4 bytes, little endian; ABSENT: there is no file), then the new bytes
     remove  another name, too, if plexusd wrote that file or it is a temporary one
     read    a configuration of any program that root alone may read: its bytes go to stdout

   Answers an errno: ESTALE if the file has other bytes, EKEYREJECTED for other steps, and for members of Plexus' step that are not the template's (template.c). */
#include "launcher.h"

enum { CONTENT_MAX = 1 << 20, PATH_BYTES = 4096 };
static const uint32_t ABSENT = UINT32_MAX;
static const char temporary_end[] = ".plexusd-new", mark[] = "\"plexusd\"";

/* Two contents and a number. */
static char input[2 * CONTENT_MAX + 4], present[CONTENT_MAX + 1];

/* Answers the size, or -1 with errno. */
static long read_all(int fd, char *into, size_t capacity) {
    size_t size = 0;
    while (size < capacity) {
        long got = read(fd, into + size, capacity - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) return (long)size;
        size += (size_t)got;
    }
    errno = EFBIG;
    return -1;
}

/* Reads the file to `present`, and closes it. Answers the size, or -1 with errno. */
static long read_opened(int fd, struct stat *status) {
    if (fd < 0) return -1;
    bool is_regular = fstat(fd, status) == 0 && S_ISREG(status->st_mode);
    errno = EINVAL;
    long size = is_regular ? read_all(fd, present, sizeof present) : -1;
    int error = errno;
    close(fd);
    errno = error;
    return size;
}

static long read_file(int directory, const char *name) {
    struct stat status;
    return read_opened(openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), &status);
}

/* Whether Plexus' step is root's template, completed. A template that the daemon may write itself is none. */
static bool is_of_template(const struct configuration *configuration, const char *content, size_t size) {
    struct stat status;
    unsigned daemon = configuration->reader;
    if (configuration->template == NULL) return true;
    long template_size = read_opened(open(configuration->template, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), &status);
    if (template_size < 0) return false;
    bool is_daemons = status.st_uid == daemon || (status.st_mode & (status.st_gid == daemon ? 0020u : 0002u)) != 0;
    struct text list = {.at = content, .end = content + size}, template = {.at = present, .end = present + template_size};
    return (daemon == 0 || !is_daemons) && keeps_template(configuration, list, template);
}

static bool may_have_steps(const struct configuration *configuration, const char *content, size_t size, size_t present_size) {
    static struct steps wanted, earlier;
    if (!read_steps(content, size, &wanted)) return false;
    if (!read_steps(present, present_size, &earlier)) earlier.count = 0;
    for (size_t i = 0; i < wanted.count; i++)
        if (strcmp(wanted.types[i], configuration->type) != 0 && !has_step(&earlier, wanted.types[i])) return false;
    return true;
}

static int write_content(int fd, const char *content, size_t size) {
    while (size > 0) {
        long wrote = write(fd, content, size);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return errno;
        content += wrote;
        size -= (size_t)wrote;
    }
    return 0;
}

/* Replaces the file as a whole, or not at all. */
static int replace(const struct configuration *configuration, int directory, const char *name, const char *content, size_t size, bool is_there) {
    char temporary[512];
    uint64_t random = 0;
    syscall(SYS_getrandom, &random, sizeof random, 0);
    if ((size_t)snprintf(temporary, sizeof temporary, "%s.%llu%s", name, (unsigned long long)random, temporary_end) >= sizeof temporary) return ENAMETOOLONG;
    int fd = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return errno;
    int error = write_content(fd, content, size);
    /* The daemon reads its own file at each look. */
    bool is_readable = configuration->reader == 0 || (syscall(SYS_fchown, (long)fd, -1L, (long)configuration->reader) == 0 && syscall(SYS_fchmod, (long)fd, 0640L) == 0);
    if (error == 0 && !is_readable) error = errno;
    if (error == 0 && syscall(SYS_fsync, (long)fd) != 0) error = errno;
    close(fd);
    /* Without a file, one that another program has just made stays. */
    if (error == 0) error = (is_there ? syscall(SYS_renameat, directory, temporary, directory, name) : syscall(SYS_linkat, directory, temporary, directory, name, 0)) == 0 ? 0 : errno;
    if (error != 0 || !is_there) unlinkat(directory, temporary, 0);
    return error;
}

static int write_file(const struct configuration *configuration, int directory, const char *name) {
    uint32_t expected;
    if (strcmp(name, configuration->name) != 0) return EPERM;
    long got = read_all(0, input, sizeof input);
    if (got < 0) return errno;
    if ((size_t)got < sizeof expected) return EINVAL;
    memcpy(&expected, input, sizeof expected);
    size_t skipped = sizeof expected + (expected == ABSENT ? 0 : expected);
    if (skipped > (size_t)got) return EINVAL;
    long size = read_file(directory, name);
    if (size < 0 && errno != ENOENT) return errno;
    bool is_there = size >= 0, is_same = is_there == (expected != ABSENT) && (!is_there || ((size_t)size == expected && memcmp(present, input + sizeof expected, expected) == 0));
    if (!is_same) return ESTALE;
    const char *content = input + skipped;
    if (!may_have_steps(configuration, content, (size_t)got - skipped, is_there ? (size_t)size : 0)) return EKEYREJECTED;
    if (!is_of_template(configuration, content, (size_t)got - skipped)) return EKEYREJECTED;
    return replace(configuration, directory, name, content, (size_t)got - skipped, is_there);
}

static bool ends_with(const char *name, const char *end) {
    size_t size = strlen(name), more = strlen(end);
    return size > more && strcmp(name + size - more, end) == 0;
}

/* The names that a runtime reads. Credentials of other programs lie in the directory, too. */
static int send_file(int directory, const char *name) {
    bool is_configuration = ends_with(name, ".conf") || ends_with(name, ".conflist") || ends_with(name, ".json");
    long size = is_configuration ? read_file(directory, name) : -1;
    return size >= 0 ? write_content(1, present, (size_t)size) : is_configuration ? errno : EPERM;
}

/* Whether plexusd wrote the file that was read. */
static bool has_mark(size_t size) {
    for (size_t at = 0; at + sizeof mark - 1 <= size; at++)
        if (memcmp(present + at, mark, sizeof mark - 1) == 0) return true;
    return false;
}

static int remove_file(int directory, const char *name) {
    long size = read_file(directory, name);
    if (size < 0) return errno;
    if (!ends_with(name, temporary_end) && !has_mark((size_t)size)) return EPERM;
    return unlinkat(directory, name, 0) == 0 ? 0 : errno;
}

int change_configuration(const struct configuration *configuration, const char *verb, const char *name) {
    if (configuration->name == NULL || *name == 0 || strchr(name, '/') != NULL || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return EPERM;
    int directory = open(configuration->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return errno;
    if (strcmp(verb, "read") == 0) return send_file(directory, name);
    int error = strcmp(verb, "write") == 0 ? write_file(configuration, directory, name) : strcmp(verb, "remove") == 0 ? remove_file(directory, name) : EINVAL;
    if (error == 0 && syscall(SYS_fsync, directory) != 0) error = errno;
    close(directory);
    return error;
}
