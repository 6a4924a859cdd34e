#include "firewalld-zone.h"
#include "daemon-connection.h"
#include "engine-connection.h"
#include "loop.h"
#include "policy-file.h"
#include "stream.h"

#define FIREWALLD "org.fedoraproject.FirewallD1"
#define BUS "org.freedesktop.DBus"

enum { METHOD_CALL = 1, METHOD_RETURN, ERROR, NO_AUTO_START = 2, FIXED_HEADER = 16 };
enum { PATH = 1, INTERFACE, MEMBER, DESTINATION = 6, SIGNATURE = 8 };
enum { ADD_SOURCE = 1, REMOVE_SOURCE, QUERY_SOURCE, ZONE_OF_SOURCE, OPERATIONS };

static const char *const methods[OPERATIONS] = {NULL, "addSource", "removeSource", "querySource", "getZoneOfSource"};

/* The part of a call that is not its arguments. */
struct method {
    const char *destination, *path, *interface, *member;
};

static void align(struct buffer *buffer, size_t size) {
    while (buffer->size % size != 0) buffer_append(buffer, "", 1);
}

static void put_u32(struct buffer *buffer, size_t value) {
    uint32_t wire = htole32((uint32_t)value);
    align(buffer, sizeof wire);
    buffer_append(buffer, &wire, sizeof wire);
}

static void put_string(struct buffer *buffer, struct bytes text) {
    put_u32(buffer, text.size);
    buffer_append(buffer, text.data, text.size);
    buffer_append(buffer, "", 1);
}

static void put_field(struct buffer *fields, int code, char type, const char *text) {
    align(fields, 8);
    buffer_append(fields, (uint8_t[]){(uint8_t)code, 1, (uint8_t)type, 0}, 4);
    put_string(fields, text_bytes(text));
}

/* Appends a method call whose arguments are strings. Each message is aligned by itself. */
static void put_call(struct buffer *out, uint32_t serial, struct method method, const struct bytes *arguments, size_t count) {
    struct buffer message = {0}, fields = {0}, body = {0};
    put_field(&fields, PATH, 'o', method.path);
    put_field(&fields, INTERFACE, 's', method.interface);
    put_field(&fields, MEMBER, 's', method.member);
    put_field(&fields, DESTINATION, 's', method.destination);
    align(&fields, count > 0 ? 8 : 1);
    if (count > 0) buffer_append(&fields, (uint8_t[]){SIGNATURE, 1, 'g', 0, (uint8_t)count, 's', count > 1 ? 's' : 0, 0}, count > 1 ? 8 : 7);
    for (size_t i = 0; i < count; i++) put_string(&body, arguments[i]);
    buffer_append(&message, (uint8_t[]){'l', METHOD_CALL, NO_AUTO_START, 1}, 4);
    put_u32(&message, body.size);
    put_u32(&message, serial);
    put_u32(&message, fields.size);
    buffer_append(&message, fields.data, fields.size);
    align(&message, 8);
    if (body.size > 0) buffer_append(&message, body.data, body.size);
    buffer_append(out, message.data, message.size);
    buffer_free(&message);
    buffer_free(&fields);
    buffer_free(&body);
}

/* The authentication by the socket's credentials, then both calls: the bus reads them when it has accepted the user. */
static void put_conversation(struct buffer *out, const struct message *zone) {
    char uid[16], line[64] = "AUTH EXTERNAL ";
    size_t end = strlen(line);
    snprintf(uid, sizeof uid, "%u", geteuid());
    for (const char *digit = uid; *digit != 0; digit++, end += 2) memcpy(line + end, (char[]){'3', *digit}, 2); /* a digit's code in hexadecimal */
    buffer_append(out, "", 1);
    buffer_append(out, line, end);
    buffer_append(out, "\r\nBEGIN\r\n", 9);
    put_call(out, 1, (struct method){BUS, "/org/freedesktop/DBus", BUS, "Hello"}, NULL, 0);
    bool takes_zone = zone->protocol != ZONE_OF_SOURCE;
    const struct bytes arguments[] = {zone->name, zone->second};
    const struct method method = {FIREWALLD, "/org/fedoraproject/FirewallD1", FIREWALLD ".zone", methods[zone->protocol]};
    put_call(out, 2, method, takes_zone ? arguments : arguments + 1, takes_zone ? 2 : 1);
}

static size_t u32_in(const uint8_t *data) {
    uint32_t wire;
    memcpy(&wire, data, sizeof wire);
    return le32toh(wire);
}

/* Whether the bus has answered both calls, has refused the user, or sends what this file cannot divide into messages. */
static bool is_complete(struct bytes got) {
    const uint8_t *line_end = got.size == 0 ? NULL : memchr(got.data, '\n', got.size);
    if (line_end == NULL) return false;
    if (got.size < 3 || memcmp(got.data, "OK ", 3) != 0) return true;
    got = bytes_after(got, (uint32_t)(line_end + 1 - got.data));
    for (int answers = 0; got.size >= FIXED_HEADER;) {
        size_t size = (FIXED_HEADER + u32_in(got.data + 12) + 7) / 8 * 8 + u32_in(got.data + 4);
        if (got.data[0] != 'l' || size > ZONE_REPLY_MAX) return true;
        if (size > got.size) return false;
        if ((got.data[1] == METHOD_RETURN || got.data[1] == ERROR) && ++answers == 2) return true;
        got = bytes_after(got, (uint32_t)size);
    }
    return false;
}

/* Exchanges the bytes with the bus. Answers 0 or an errno. */
static int converse(int fd, const struct buffer *out, struct buffer *got) {
    struct pollfd bus = {.fd = fd};
    int64_t due = in_ms(ZONE_MS), left;
    size_t sent = 0;
    while ((left = due - now_us()) > 0) {
        sent = stream_send(fd, out, sent);
        bus.events = sent < out->size ? POLLIN | POLLOUT : POLLIN;
        if (poll(&bus, 1, (int)(left / 1000) + 1) <= 0 || (bus.revents & ~POLLOUT) == 0) continue;
        buffer_reserve(got, ZONE_REPLY_MAX);
        ssize_t count = recv(fd, got->data + got->size, ZONE_REPLY_MAX, MSG_DONTWAIT);
        if (count == 0) return ECONNRESET;
        if (count < 0 && errno != EAGAIN && errno != EINTR) return errno;
        if (count > 0) got->size += (size_t)count;
        if (is_complete(buffer_bytes(got))) return 0;
        if (got->size > 2 * ZONE_REPLY_MAX) return EMSGSIZE;
    }
    return ETIMEDOUT;
}

/* The socket that programs of the node find the bus by. */
static const char *bus_socket(void) {
    static const char prefix[] = "unix:path=";
    const char *address = getenv("DBUS_SYSTEM_BUS_ADDRESS") ?: "";
    return strncmp(address, prefix, sizeof prefix - 1) == 0 ? address + sizeof prefix - 1 : "/run/dbus/system_bus_socket";
}

void answer_zone(uint32_t channel, const struct message *zone) {
    struct buffer out = {0}, got = {0};
    bool known = zone->protocol > 0 && zone->protocol < OPERATIONS;
    bool allowed = known && (zone->protocol == ZONE_OF_SOURCE || policy_allows(POLICY_ZONES, (const char *)zone->name.data, zone->name.size));
    int error = !known ? EINVAL : !allowed ? POLICY_REFUSES : 0, fd = error == 0 ? connect_to(bus_socket()) : -1;
    if (error == 0 && fd < 0) error = errno;
    bool begun = fd >= 0;
    if (begun) {
        put_conversation(&out, zone);
        error = converse(fd, &out, &got);
        close(fd);
    }
    send_to_engine(DONE, channel, &(struct message){.status = (uint32_t)error, .flag = begun, .out = buffer_bytes(&got)});
    buffer_free(&out);
    buffer_free(&got);
}
