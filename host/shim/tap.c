#include "tap.h"

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
