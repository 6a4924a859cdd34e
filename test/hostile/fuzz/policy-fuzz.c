/* Fuzz target of the node's policy (host/shim/policy.c) and of its check of netlink messages (netlink-policy.c), for libFuzzer or replay.c.

   Input: the policy's text up to a NUL, then netlink messages. The target checks that neither reads memory outside the input (by the
   sanitizer), that a mistake is reported for a line of the text, that each pattern without `*` fits itself, and that no message is refused
   without a bound. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cni-error.h"
#include "netlink-policy.h"
#include "policy-file.h"

/* The parser calls fail only if memory is exhausted. */
_Noreturn void fail(enum cni_code code, const char *remedy, const char *message, ...) {
    fprintf(stderr, "fail %d: %s: %s\n", code, message, remedy);
    abort();
}

static void must(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

static struct policy policy;

/* In the place of policy-file.c. */
bool policy_bounds(enum policy_list list) { return policy.bounds[list]; }
bool policy_lists(enum policy_list list, const char *value, size_t size) { return policy_has(&policy, list, value, size); }
bool policy_allows(enum policy_list list, const char *value, size_t size) { return policy_has(&policy, list, value, size); }
bool report_refusal(const char *what, size_t size) { return (void)what, (void)size, false; }

static void check_patterns(enum policy_list list) {
    const struct buffer *patterns = &policy.patterns[list];
    must(policy.bounds[list] || patterns->size == 0, "a list that is missing has patterns");
    must(patterns->size == 0 || patterns->data[patterns->size - 1] == 0, "a pattern is not NUL-terminated");
    for (size_t at = 0, size; at < patterns->size; at += size + 1) {
        const char *pattern = (const char *)patterns->data + at;
        size = strlen(pattern);
        must(size > 0, "an empty pattern");
        if (strchr(pattern, '*') == NULL) must(policy_has(&policy, list, pattern, size), "a pattern without * does not fit itself");
    }
}

static void check_messages(const uint8_t *data, size_t size) {
    uint8_t *exact = malloc(size == 0 ? 1 : size); /* an exact allocation, so that the sanitizer detects any read beyond it */
    must(exact != NULL, "out of memory");
    memcpy(exact, data, size);
    struct bytes messages = {.data = exact, .size = (uint32_t)size};
    for (uint32_t protocol = 0; protocol <= 12; protocol += 12)
        for (int on_node = 0; on_node < 2; on_node++) {
            must(netlink_is_allowed(protocol, messages, on_node) || policy.bounds[POLICY_NODE_NETLINK] || policy.bounds[POLICY_DEVICES], "a message is refused without a bound");
            must(moves_are_allowed(protocol, messages, on_node) || policy.bounds[POLICY_DEVICES], "a move is refused without a bound");
        }
    free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *end = size == 0 ? NULL : memchr(data, 0, size);
    if (end == NULL) return 0;
    char *text = malloc((size_t)(end - data) + 1);
    must(text != NULL, "out of memory");
    memcpy(text, data, (size_t)(end - data) + 1);
    unsigned line = 0, lines = 1;
    for (const char *at = text; *at != 0; at++) lines += *at == '\n';
    const char *mistake = policy_parse(text, &policy, &line);
    must(line >= 1 && line <= lines, "a line outside the text");
    free(text);
    for (int list = 0; mistake == NULL && list < POLICY_LISTS; list++) check_patterns((enum policy_list)list);
    if (mistake == NULL) check_messages(end + 1, size - (size_t)(end + 1 - data));
    for (int list = 0; list < POLICY_LISTS; list++) buffer_free(&policy.patterns[list]);
    policy = (struct policy){0};
    return 0;
}
