#include "policy.h"

static const char *const members[POLICY_LISTS] = {
    [POLICY_PLUGINS] = "plugins",          [POLICY_DIRECTORIES] = "directories",  [POLICY_NODE_NETLINK] = "nodeNetlink",
    [POLICY_NODE_SYSCTLS] = "nodeSysctls", [POLICY_POD_SYSCTLS] = "podSysctls", [POLICY_TAPS] = "taps",
    [POLICY_DEVICES] = "devices",          [POLICY_FUNCTIONS] = "physicalFunctions",
    [POLICY_ASKS] = "asks",                [POLICY_TABLES] = "nodeTables",
    [POLICY_ZONES] = "firewalldZones",     [POLICY_CONTEXTS] = "selinuxContexts",
};

struct reader {
    const char *at;
    unsigned line;
};

/* Skips blanks, then takes `wanted` if it comes next. */
static bool take(struct reader *reader, char wanted) {
    for (; *reader->at != 0 && strchr(" \t\r\n", *reader->at) != NULL; reader->at++)
        if (*reader->at == '\n') reader->line++;
    if (*reader->at != wanted) return false;
    if (wanted != 0) reader->at++;
    return true;
}

/* Takes a string without escapes. Answers NULL or what is wrong. */
static const char *take_string(struct reader *reader, struct bytes *string) {
    if (!take(reader, '"')) return "a string is missing";
    const char *start = reader->at;
    for (; *reader->at != '"'; reader->at++) {
        if ((unsigned char)*reader->at < ' ') return "a string has no closing quote, or a control character";
        if (*reader->at == '\\') return "a string has a backslash; write the character itself";
    }
    *string = (struct bytes){.data = (const uint8_t *)start, .size = (uint32_t)(reader->at - start)};
    reader->at++;
    return NULL;
}

static const char *take_list(struct reader *reader, struct buffer *patterns) {
    struct bytes pattern;
    if (!take(reader, '[')) return "an array of strings is missing";
    if (take(reader, ']')) return NULL;
    do {
        const char *mistake = take_string(reader, &pattern);
        if (mistake != NULL) return mistake;
        if (pattern.size == 0) return "an empty pattern matches nothing";
        buffer_append(patterns, pattern.data, pattern.size);
        buffer_append(patterns, "", 1);
    } while (take(reader, ','));
    return take(reader, ']') ? NULL : "a comma or a closing bracket is missing";
}

static const char *take_member(struct reader *reader, struct policy *policy) {
    struct bytes name;
    const char *mistake = take_string(reader, &name);
    if (mistake != NULL) return mistake;
    for (int list = 0; list < POLICY_LISTS; list++) {
        if (name.size != strlen(members[list]) || memcmp(name.data, members[list], name.size) != 0) continue;
        if (policy->bounds[list]) return "a key occurs twice";
        policy->bounds[list] = true;
        return take(reader, ':') ? take_list(reader, &policy->patterns[list]) : "a colon is missing";
    }
    return "the key is unknown; plugins, directories, nodeNetlink, nodeSysctls, podSysctls, taps, devices, physicalFunctions, asks, nodeTables, firewalldZones and selinuxContexts exist";
}

const char *policy_parse(const char *text, struct policy *policy, unsigned *line) {
    struct reader reader = {.at = text, .line = 1};
    const char *mistake = take(&reader, '{') ? NULL : "an object is missing";
    if (mistake == NULL && !take(&reader, '}')) {
        do mistake = take_member(&reader, policy);
        while (mistake == NULL && take(&reader, ','));
        if (mistake == NULL && !take(&reader, '}')) mistake = "a comma or a closing brace is missing";
    }
    if (mistake == NULL && !take(&reader, 0)) mistake = "text follows the object";
    *line = reader.line;
    return mistake;
}

/* Where `*` fails to fit it takes one character more. Only the last `*` need be tried: `*` stops at `/`, and a shorter earlier one never loses. */
static bool fits(const char *pattern, const char *value, const char *end) {
    const char *star = NULL, *tried = NULL;
    while (value < end) {
        if (*pattern == '*') {
            star = ++pattern;
            tried = value;
        } else if (*pattern != 0 && *pattern == *value) pattern++, value++;
        else if (star != NULL && *tried != '/') pattern = star, value = ++tried;
        else return false;
    }
    while (*pattern == '*') pattern++;
    return *pattern == 0;
}

bool policy_has(const struct policy *policy, enum policy_list list, const char *value, size_t size) {
    const struct buffer *patterns = &policy->patterns[list];
    if (!policy->bounds[list]) return true;
    for (size_t at = 0; at < patterns->size; at += strlen((const char *)patterns->data + at) + 1)
        if (fits((const char *)patterns->data + at, value, value + size)) return true;
    return false;
}
