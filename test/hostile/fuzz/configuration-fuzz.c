/* Fuzz target of the launch server's reader of the daemon's configuration (host/sandbox/launcher/steps.c, template.c), for libFuzzer or replay.c.

   Input: the template up to a NUL, then the list. The target checks that neither is read beyond its end (by the sanitizer), that a step has a type, and that a list
   that keeps the template keeps no template with one member more. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher.h"

static void must(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

/* An exact allocation, so that the sanitizer detects any read beyond it. */
static struct text exact(const uint8_t *data, size_t size) {
    char *copy = malloc(size == 0 ? 1 : size);
    must(copy != NULL, "out of memory");
    memcpy(copy, data, size);
    return (struct text){.at = copy, .end = copy + size};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char more[] = "{\"unheard-of\":1}";
    static struct steps steps;
    const struct configuration configuration = {.type = "plexus", .kubeconfig = "/run/plexus/kubeconfig"};
    const uint8_t *end = size == 0 ? NULL : memchr(data, 0, size);
    if (end == NULL) return 0;
    struct text template = exact(data, (size_t)(end - data)), list = exact(end + 1, size - (size_t)(end + 1 - data));
    bool is_list = read_steps(list.at, (size_t)(list.end - list.at), &steps);
    must(steps.count <= STEPS_MAX && (!is_list || steps.count > 0), "a list without steps, or with too many");
    if (is_list && keeps_template(&configuration, list, template) && has_step(&steps, configuration.type))
        must(!keeps_template(&configuration, list, (struct text){.at = more, .end = more + sizeof more - 1}), "a list keeps a template whose member it lacks");
    free((void *)(uintptr_t)template.at);
    free((void *)(uintptr_t)list.at);
    return 0;
}
