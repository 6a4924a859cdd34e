#include "sysctl.h"

/* Whether `key` is a path below `net` in which no component is empty, `.` or `..`. */
static bool is_key(const char *key) {
    if (strncmp(key, "net/", 4) != 0) return false;
    for (const char *part = key;; part = strchr(part, '/') + 1) {
        size_t size = strcspn(part, "/");
        if (size == 0 || (size <= 2 && strncmp(part, "..", size) == 0)) return false;
        if (part[size] == 0) return true;
    }
}

/*
 * Appends the current value to `before`, then writes `value` unless it is empty. A value that can be written but not read counts as empty.
 * Answers 0 or an errno.
 */
static int set(int root, const char *key, const char *value, struct buffer *before) {
    int fd = openat(root, key, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    buffer_reserve(before, SYSCTL_MAX);
    ssize_t size = fd < 0 ? -1 : read(fd, before->data + before->size, SYSCTL_MAX), length = (ssize_t)strlen(value);
    int error = size == SYSCTL_MAX ? EFBIG : size < 0 && length == 0 ? errno : 0;
    close(fd);
    if (error == 0 && length > 0) {
        fd = openat(root, key, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
        ssize_t written = fd < 0 ? -1 : write(fd, value, (size_t)length);
        if (written != length) error = written < 0 ? errno : EIO;
        /* The kernel took a part, such as the first of two integers. The caller restores only the settings before this one. */
        bool partly = written >= 0 && written < length && size > 0;
        if (partly && pwrite(fd, before->data + before->size, (size_t)size, 0) < 0) error = errno;
        close(fd);
    }
    if (error == 0) before->size += size < 0 ? 0 : (size_t)size;
    if (error == 0) buffer_append(before, "", 1);
    return error;
}

/* The write happens in the namespace: the kernel chooses the values below /proc/sys/net by the namespace of the process that looks them up. */
int set_sysctls(const struct message *sysctl, struct done *done) {
    const char *at = (const char *)sysctl->environment.data, *end = at + sysctl->environment.size;
    int root = open("/proc/sys", O_PATH | O_DIRECTORY | O_CLOEXEC);
    done->begun = root >= 0;
    while (root >= 0 && done->error == 0 && at < end) {
        const char *key = at, *value = key + strlen(key) + 1;
        /* Before the setting is read or written: the answer has place for its value, whatever the value is. */
        bool fits = done->out.size + SYSCTL_MAX <= SYSCTLS_MAX;
        done->error = value >= end || !is_key(key) ? EINVAL : !fits ? EMSGSIZE : set(root, key, value, &done->out);
        at = value >= end ? end : value + strlen(value) + 1;
    }
    return root;
}
