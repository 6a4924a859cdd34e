#include "engine-connection.h"
#include "cni-error.h"
#include "one-shot-engine.h"

struct stream engine;
char engine_violation[128];

static char engine_name[PATH_MAX * 2 + 64] = "the engine"; /* for errors */

void send_to_engine(enum frame_type type, uint32_t channel, const struct message *message) {
    message_encode(&engine.out, type, channel, message);
    stream_flush(&engine);
}

/* Appends the shim's variables to `row`, as REQUEST and AGENT carry them. */
static void append_environment(struct buffer *row) {
    const char *longest = "";
    for (char **entry = environ; *entry != NULL; entry++) {
        buffer_append(row, *entry, strlen(*entry) + 1);
        if (strlen(*entry) > strlen(longest)) longest = *entry;
    }
    if (row->size > ENVIRONMENT_MAX)
        fail(CNI_ENVIRONMENT, "Call the plugin with fewer or shorter variables.", "the environment is larger than %u bytes; its longest variable is %.*s",
             ENVIRONMENT_MAX, (int)strcspn(longest, "="), longest);
}

void check_environment(void) {
    struct buffer row = {0};
    append_environment(&row);
    buffer_free(&row);
}

void encode_first_message(enum frame_type type, struct message message, uint32_t waited_ms) {
    struct buffer row = {0};
    append_environment(&row);
    if (waited_ms > 0) {
        char waited[40];
        buffer_append(&row, waited, (size_t)snprintf(waited, sizeof waited, "PLEXUS_WAITED_MS=%u", waited_ms) + 1);
    }
    message.environment = buffer_bytes(&row);
    engine.out.size = 0;
    message_encode(&engine.out, type, 0, &message);
    buffer_free(&row);
}

void open_engine_stream(int fd, size_t sent) {
    buffer_drop_front(&engine.out, sent);
    stream_open(&engine, fd);
    stream_flush(&engine);
}

void name_engine(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(engine_name, sizeof engine_name, format, list);
    va_end(list);
}

const char *describe_engine(void) {
    static char text[sizeof engine_name + STDERR_TAIL_MAX + 256];
    describe_end(text, snprintf(text, sizeof text, "%s", engine_name), sizeof text);
    return text;
}
