/* The environment (POSIX 8.1). */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *getenv(const char *name) {
    size_t size = strlen(name);
    for (char **entry = environ; *entry != NULL; entry++)
        if (strncmp(*entry, name, size) == 0 && (*entry)[size] == '=') return *entry + size + 1;
    return NULL;
}

/* Replaces the pointer of an existing variable; otherwise copies the list. The kernel's own strings and list are never freed. */
int setenv(const char *name, const char *value, int replaces) {
    size_t size = strlen(name) + strlen(value) + 2, count = 0, place = 0;
    bool there = false;
    for (; environ[count] != NULL; count++)
        if (!there && strncmp(environ[count], name, strlen(name)) == 0 && environ[count][strlen(name)] == '=') {
            there = true;
            place = count;
        }
    if (there && !replaces) return 0;
    char *entry = malloc(size), **list = there ? environ : malloc((count + 2) * sizeof *list);
    errno = ENOMEM;
    if (entry == NULL || list == NULL) return -1;
    snprintf(entry, size, "%s=%s", name, value);
    if (!there) {
        memcpy(list, environ, count * sizeof *list);
        list[count + 1] = NULL;
        place = count;
        environ = list;
    }
    environ[place] = entry;
    return 0;
}
