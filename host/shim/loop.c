#include "loop.h"

/* An EXEC has four (stdout, stderr, deadline, nested-call socket), a nested call has one (its stream), an ASK has one, CHANGES has one, sockets that are closed later have one, the shim itself has a few. */
enum { WATCHES_MAX = EFFECTS_MAX * 5 + ASKS_MAX + 10 };

#define MAX_WAIT_US 3600000000 /* of one poll() */

static struct watch *watches[WATCHES_MAX]; /* NULL: a free slot */

int64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t in_ms(uint32_t ms) {
    return now_us() + (int64_t)ms * 1000;
}

void watch_add(struct watch *watch) {
    int slot = 0;
    while (watches[slot] != NULL) slot++;
    watches[slot] = watch;
}

void watch_remove(struct watch *watch) {
    for (int slot = 0; slot < WATCHES_MAX; slot++)
        if (watches[slot] == watch) watches[slot] = NULL;
}

void watch_close(struct watch *watch) {
    watch_remove(watch);
    if (watch->fd >= 0) close(watch->fd);
    watch->fd = -1;
}

_Noreturn void loop_run(void) {
    static struct pollfd fds[WATCHES_MAX];
    for (;;) {
        int64_t before = now_us(), due = before + MAX_WAIT_US;
        nfds_t used = 0; /* poll() takes time for each entry */
        for (int i = 0; i < WATCHES_MAX; i++) {
            const struct watch *watch = watches[i];
            fds[i] = watch == NULL ? (struct pollfd){.fd = -1} : (struct pollfd){.fd = watch->fd, .events = watch->events};
            if (watch != NULL) used = (nfds_t)i + 1;
            if (watch != NULL && watch->due < due) due = watch->due;
        }
        int64_t wait = (due - before + 999) / 1000;
        if (poll(fds, used, wait < 0 ? 0 : (int)wait) < 0) continue;
        int64_t now = now_us();
        for (int i = 0; i < WATCHES_MAX; i++) {
            /* A watch that took a slot during this turn may be woken for its predecessor's event: callbacks tolerate that. */
            if (watches[i] != NULL && watches[i]->fd == fds[i].fd && fds[i].revents != 0) watches[i]->wake(watches[i], fds[i].revents);
            if (watches[i] != NULL && watches[i]->due <= now) watches[i]->wake(watches[i], 0);
        }
    }
}
