#include "plugin-environment.h"
#include "nested-calls.h"

static const char *const engine_names[] = {"GOMAXPROCS=", "TRACEPARENT=", "TRACESTATE=", "BAGGAGE=", "PLEXUS_CALLERS="};
static const char path_name[] = "CNI_PATH=", socket_name[] = "PLEXUS_NESTED_CALLS=";

static bool begins(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

/* CNI_PATH is the runtime's: a plugin executes its own helpers from there. */
static bool is_engine_variable(const char *variable) {
    if (begins(variable, "CNI_")) return strchr(variable, '=') != NULL && !begins(variable, path_name);
    for (size_t i = 0; i < sizeof engine_names / sizeof *engine_names; i++)
        if (begins(variable, engine_names[i])) return true;
    return false;
}

const char *forbidden_variable(struct bytes variables) {
    const char *at = (const char *)variables.data;
    for (const char *end = at + variables.size; at < end; at += strlen(at) + 1)
        if (!is_engine_variable(at)) return at;
    return NULL;
}

static void append_text(struct buffer *row, const char *text) {
    buffer_append(row, text, strlen(text));
}

void append_plugin_environment(struct bytes variables, const char *nested_calls, struct buffer *row) {
    const char *path = getenv("CNI_PATH");
    bool nests = *nested_calls != 0;
    for (char **entry = environ; *entry != NULL; entry++)
        if (!is_engine_variable(*entry) && !begins(*entry, path_name) && !(nests && begins(*entry, socket_name))) buffer_append(row, *entry, strlen(*entry) + 1);
    buffer_append(row, variables.data, variables.size);
    if (nests) {
        append_text(row, socket_name);
        append_text(row, nested_calls);
        buffer_append(row, "/" NESTED_CALLS_SOCKET, sizeof "/" NESTED_CALLS_SOCKET);
    }
    if (path == NULL && !nests) return;
    append_text(row, path_name);
    append_text(row, nested_calls);
    if (nests && path != NULL && *path != 0) append_text(row, ":");
    buffer_append(row, path == NULL ? "" : path, path == NULL ? 1 : strlen(path) + 1);
}
