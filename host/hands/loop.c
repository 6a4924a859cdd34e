#include "loop.h"

#include "bounds.h"

/* Of an EXEC: stdin, stdout, stderr, time, nest. Of a nested call: its stream. And the call's own few. */
enum { WATCHES_MAX = EFFECTS_MAX * 6 + 8 };

static struct watch *watches;
static struct watch *polled[WATCHES_MAX];
static struct pollfd fds[WATCHES_MAX];

int64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t in_ms(uint32_t ms) {
    return now_us() + (int64_t)ms * 1000;
}

void watch_add(struct watch *watch) {
    watch->slot = -1; /* added during a turn: it has its first chance in the next one */
    watch->next = watches;
    watches = watch;
}

void watch_remove(struct watch *watch) {
    for (struct watch **link = &watches; *link != NULL; link = &(*link)->next) {
        if (*link != watch) continue;
        *link = watch->next;
        if (watch->slot >= 0) polled[watch->slot] = NULL; /* the turn under way must not wake it any more */
        return;
    }
}

void watch_close(struct watch *watch) {
    watch_remove(watch);
    if (watch->fd >= 0) close(watch->fd);
    watch->fd = -1;
}

static void turn(void) {
    int count = 0;
    int64_t due = NEVER;
    for (struct watch *watch = watches; watch != NULL && count < WATCHES_MAX; watch = watch->next) {
        watch->slot = count;
        polled[count] = watch;
        fds[count++] = (struct pollfd){.fd = watch->fd, .events = watch->events};
        if (watch->due < due) due = watch->due;
    }
    int64_t wait = due == NEVER ? -1 : (due - now_us() + 999) / 1000;
    if (poll(fds, (nfds_t)count, due == NEVER ? -1 : wait < 0 ? 0 : wait > 60000 ? 60000 : (int)wait) < 0) return;
    int64_t now = now_us();
    for (int i = 0; i < count; i++) {
        if (polled[i] != NULL && fds[i].revents != 0) polled[i]->wake(polled[i], fds[i].revents);
        if (polled[i] != NULL && polled[i]->due <= now) polled[i]->wake(polled[i], 0);
    }
}

_Noreturn void loop_run(void) {
    for (;;) turn();
}
