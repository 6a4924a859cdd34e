/* The one poll loop: whatever waits for a file descriptor or a time is a watch in it. */
#ifndef PLEXUS_LOOP_H
#define PLEXUS_LOOP_H

#include "common.h"

#define NEVER INT64_MAX

struct watch {
    int fd;          /* -1: none, only the time counts */
    short events;
    int64_t due;     /* on the clock of now_us(), or NEVER */
    void (*wake)(struct watch *self, short revents); /* revents 0: the time has come; others: to be looked at without blocking */
    void *owner;
};

int64_t now_us(void);
int64_t in_ms(uint32_t ms);

/* A watch belongs to the caller and stays where it is until it is removed. */
void watch_add(struct watch *watch);
void watch_remove(struct watch *watch);
/* Removes the watch and closes its descriptor; twice is harmless. */
void watch_close(struct watch *watch);

_Noreturn void loop_run(void);

#endif
