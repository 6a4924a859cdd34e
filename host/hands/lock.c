#include "lock.h"

#include "brain-connection.h"
#include "bounds.h"
#include "spawn.h"

struct lock {
    bool used, shared;
    uint32_t channel;
    int fd;
    pid_t waiter; /* 0: the lock is held */
    struct watch timer;
    char path[PATH_MAX];
};

static struct lock locks[EFFECTS_MAX];

static void answer(uint32_t channel, int error) {
    size_t begin = frame_begin(&brain.out, LOCKED, channel);
    put_u32(&brain.out, (uint32_t)error);
    frame_end(&brain.out, begin);
    stream_flush(&brain);
}

static void let_go(struct lock *lock) {
    watch_remove(&lock->timer);
    if (lock->waiter > 0) {
        kill(lock->waiter, SIGKILL);
        waitpid(lock->waiter, NULL, 0);
    }
    if (lock->fd >= 0) close(lock->fd);
    lock->used = false;
}

/* The lock belongs to the open file, which a child shares: a child waits for it in the kernel's fair queue, and when it has
   exited, the lock is ours. */
static pid_t start_waiter(const struct lock *lock) {
    pid_t parent = getpid(), child = fork();
    if (child != 0) return child;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent || dup2(lock->fd, 0) != 0) _exit(EIO);
    close_from(1); /* it must not hold a plugin's pipe or the brain's stream open */
    _exit(flock(0, lock->shared ? LOCK_SH : LOCK_EX) == 0 ? 0 : errno);
}

/* A holder may have removed the file that we waited for; then another file is the lock now. */
static bool is_still_named(const struct lock *lock) {
    struct stat held, named;
    return fstat(lock->fd, &held) == 0 && lstat(lock->path, &named) == 0 && held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

/* Answers 0 with the lock held, EWOULDBLOCK with a waiter under way, or why it can't be had. */
static int take(struct lock *lock) {
    for (;;) {
        if (lock->fd >= 0) close(lock->fd);
        lock->fd = open(lock->path, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
        if (lock->fd < 0) return errno;
        struct stat status;
        if (fstat(lock->fd, &status) != 0 || !S_ISREG(status.st_mode)) return EINVAL;
        if (flock(lock->fd, (lock->shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) break;
        if (is_still_named(lock)) return 0;
    }
    if (errno != EWOULDBLOCK) return errno;
    if (lock->timer.due <= now_us()) return ETIMEDOUT;
    lock->waiter = start_waiter(lock);
    return lock->waiter < 0 ? errno : EWOULDBLOCK;
}

/* Answers the brain, unless a waiter is still to come. */
static void settle(struct lock *lock, int error) {
    if (error == EWOULDBLOCK) return;
    lock->timer.due = NEVER;
    if (error != 0) let_go(lock); /* before the answer, after which nothing of it may be left */
    answer(lock->channel, error);
}

static void timer_wake(struct watch *watch, short revents) {
    (void)revents;
    settle(watch->owner, ETIMEDOUT);
}

void lock_begin(uint32_t channel, const struct message *message) {
    struct lock *lock = locks, *end = locks + EFFECTS_MAX;
    struct bytes path = message->path;
    while (lock < end && lock->used) lock++;
    bool named_lock = path.size >= 5 && path.size < PATH_MAX && path.data[0] == '/' && memcmp(path.data + path.size - 5, "/lock", 5) == 0;
    if (lock == end || !named_lock) {
        answer(channel, named_lock ? EAGAIN : EINVAL);
        return;
    }
    *lock = (struct lock){.used = true, .shared = message->shared != 0, .channel = channel, .fd = -1};
    lock->timer = (struct watch){.fd = -1, .due = in_ms(message->deadline_ms), .wake = timer_wake, .owner = lock};
    memcpy(lock->path, path.data, path.size);
    watch_add(&lock->timer);
    settle(lock, take(lock));
}

static struct lock *lock_on(uint32_t channel) {
    for (struct lock *lock = locks; lock < locks + EFFECTS_MAX; lock++)
        if (lock->used && lock->channel == channel) return lock;
    return NULL;
}

bool lock_is_on(uint32_t channel) {
    return lock_on(channel) != NULL;
}

void lock_release(uint32_t channel) {
    struct lock *lock = lock_on(channel);
    if (lock != NULL) let_go(lock);
}

void reap_locks(void) {
    for (struct lock *lock = locks; lock < locks + EFFECTS_MAX; lock++) {
        int status;
        if (!lock->used || lock->waiter == 0 || waitpid(lock->waiter, &status, WNOHANG) != lock->waiter) continue;
        lock->waiter = 0;
        int error = !WIFEXITED(status) ? EINTR : WEXITSTATUS(status);
        settle(lock, error != 0 ? error : is_still_named(lock) ? 0 : take(lock));
    }
}
