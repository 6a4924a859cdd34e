#include "tap.h"
#include "spawn.h"

#include <linux/if.h>
#include <linux/if_tun.h>

/* The descriptor belongs to the namespace in which it is opened, and so does the tap that it makes. */
int open_tap(UNUSED const struct message *tap, UNUSED struct done *done) {
    return open("/dev/net/tun", O_RDWR | O_CLOEXEC);
}

/* Without TUNSETPERSIST the tap would vanish with the descriptor. */
void make_tap(int fd, const struct message *tap, struct done *done) {
    struct ifreq request = {.ifr_flags = (short)(IFF_TAP | IFF_NO_PI | IFF_TUN_EXCL | (tap->flag ? IFF_MULTI_QUEUE : 0))};
    bool fits = tap->name.size < sizeof request.ifr_name;
    if (fits) memcpy(request.ifr_name, tap->name.data, tap->name.size);
    errno = EINVAL;
    done->begun = fits && ioctl(fd, TUNSETIFF, &request) == 0 && (tap->owner == NO_ID || ioctl(fd, TUNSETOWNER, tap->owner) == 0) &&
                  (tap->group == NO_ID || ioctl(fd, TUNSETGROUP, tap->group) == 0) && ioctl(fd, TUNSETPERSIST, 1) == 0;
    if (!done->begun) done->error = errno;
}

enum { TAP_NAME = 2, TAP_QUEUES, TAP_OWNER, TAP_GROUP, TAP_ARGUMENTS };

/* The kernel labels a tap with the context of the process that makes it. The child is in the namespace of its parent, and opens the device in its own context. */
int make_labelled_tap(const struct message *tap, struct done *done) {
    char name[IFNAMSIZ] = "", owner[12], group[12], context[SELINUX_CONTEXT_MAX + 1] = "";
    if (tap->name.size >= sizeof name || tap->second.size == 0 || tap->second.size >= sizeof context) return errno = EINVAL, -1;
    memcpy(name, tap->name.data, tap->name.size);
    memcpy(context, tap->second.data, tap->second.size);
    snprintf(owner, sizeof owner, "%u", tap->owner);
    snprintf(group, sizeof group, "%u", tap->group);
    char *arguments[] = {"/proc/self/exe", "tap", name, tap->flag ? "1" : "0", owner, group, NULL};
    int dev_null = open("/dev/null", O_RDWR | O_CLOEXEC), status = 0;
    struct spawn program = {.argv = arguments, .environment = &(struct buffer){0}, .selinux_context = context, .dies_with_parent = true};
    int fds[SPAWN_FDS] = {dev_null, dev_null, dev_null, -1, -1};
    memcpy(program.fds, fds, sizeof fds);
    pid_t child = dev_null < 0 ? -1 : spawn(&program);
    int error = child < 0 ? errno : 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (error == 0) error = WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
    done->begun = error == 0;
    if (error == 0) return dev_null;
    if (dev_null >= 0) close(dev_null);
    errno = error;
    return -1;
}

bool is_tap_call(int argc, char **argv) { return argc == TAP_ARGUMENTS && strcmp(argv[1], "tap") == 0; }

static uint32_t number_in(const char *digits) {
    uint32_t number = 0;
    for (; *digits >= '0' && *digits <= '9'; digits++) number = number * 10 + (uint32_t)(*digits - '0');
    return number;
}

int make_tap_of(char **argv) {
    struct message tap = {.name = text_bytes(argv[TAP_NAME]), .flag = number_in(argv[TAP_QUEUES]), .owner = number_in(argv[TAP_OWNER])};
    struct done done = {0};
    tap.group = number_in(argv[TAP_GROUP]);
    int fd = open_tap(&tap, &done);
    if (fd < 0) return errno;
    make_tap(fd, &tap, &done);
    return done.error;
}
