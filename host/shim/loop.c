#include "loop.h"

/* Of an EXEC: stdout, stderr, time, nest. Of a nested call: its stream. And the call's own few. */
enum { WATCHES_MAX = EFFECTS_MAX * 5 + 8 };

#define LONGEST_US 3600000000 /* of one wait for nothing in particular */

static struct watch *watches[WATCHES_MAX]; /* NULL: this place is free */

int64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t in_ms(uint32_t ms) {
    return now_us() + (int64_t)ms * 1000;
}

void watch_add(struct watch *watch) {
    int place = 0;
    while (watches[place] != NULL) place++;
    watches[place] = watch;
}

void watch_remove(struct watch *watch) {
    for (int place = 0; place < WATCHES_MAX; place++)
        if (watches[place] == watch) watches[place] = NULL;
}

void watch_close(struct watch *watch) {
    watch_remove(watch);
    if (watch->fd >= 0) close(watch->fd);
    watch->fd = -1;
}

_Noreturn void loop_run(void) {
    static struct pollfd fds[WATCHES_MAX];
    for (;;) {
        int64_t before = now_us(), due = before + LONGEST_US;
        nfds_t used = 0; /* the kernel looks at each of them */
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
            /* who took a place during this turn has its first chance in the next one, or is woken for nothing, which it bears */
            if (watches[i] != NULL && watches[i]->fd == fds[i].fd && fds[i].revents != 0) watches[i]->wake(watches[i], fds[i].revents);
            if (watches[i] != NULL && watches[i]->due <= now) watches[i]->wake(watches[i], 0);
        }
    }
}
