/* Reading a directory (POSIX readdir). */
#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

/* On x86-64 the libc's struct dirent is the kernel's struct linux_dirent64. */
struct __dirstream {
    int fd;
    size_t size, at; /* bytes in `entries`, bytes read of them */
    _Alignas(struct dirent) char entries[8192];
};

/* Another name: libcs declare getdents64 with different types. */
extern long getdents64_here(int fd, void *entries, size_t size) __asm__("getdents64");

DIR *fdopendir(int fd) {
    DIR *listing = malloc(sizeof *listing);
    if (listing == NULL) return NULL;
    listing->fd = fd;
    listing->size = listing->at = 0;
    return listing;
}

DIR *opendir(const char *path) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && listing == NULL) close(fd);
    return listing;
}

struct dirent *readdir(DIR *listing) {
    if (listing->at >= listing->size) {
        long size = getdents64_here(listing->fd, listing->entries, sizeof listing->entries);
        if (size <= 0) return NULL;
        listing->size = (size_t)size;
        listing->at = 0;
    }
    struct dirent *entry = (struct dirent *)(void *)(listing->entries + listing->at);
    listing->at += entry->d_reclen;
    return entry;
}

int closedir(DIR *listing) {
    int fd = listing->fd;
    free(listing);
    return close(fd);
}
