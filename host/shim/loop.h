/* The shim's only poll loop. A watch waits in it for a file descriptor, a time, or both. */
#ifndef PLEXUS_LOOP_H
#define PLEXUS_LOOP_H

#include "common.h"

#define NEVER INT64_MAX

struct watch {
    int fd;          /* -1: the watch waits for its time alone */
    short events;
    int64_t due;     /* in microseconds of now_us(), or NEVER */
    void (*wake)(struct watch *self, short revents); /* revents 0: `due` has passed. The callback must not block. */
    void *owner;
};

/* CLOCK_MONOTONIC in microseconds. */
int64_t now_us(void);
/* The time `ms` milliseconds from now. */
int64_t in_ms(uint32_t ms);

/* The caller owns the watch and must not move it before it is removed. */
void watch_add(struct watch *watch);
void watch_remove(struct watch *watch);
/* Removes the watch and closes its descriptor. A second call has no effect. */
void watch_close(struct watch *watch);

_Noreturn void loop_run(void);

#endif
