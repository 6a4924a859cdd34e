/* The start of every test plugin: it reads all of stdin (unless its behaviour is not to) and appends a JSON line to
   "<binary>.log". Each byte of 0x80 and above is written as \u00XX, so that the reader can restore the exact bytes. */
#ifndef RECORD_H
#define RECORD_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

struct buffer {
  char *bytes;
  size_t length, capacity;
};

static void die(const char *what) {
  dprintf(2, "test plugin: %s: %s\n", what, strerror(errno));
  _exit(125);
}

static void append(struct buffer *b, const char *bytes, size_t length) {
  if (b->length + length + 1 > b->capacity) {
    b->capacity = (b->length + length + 1) * 2;
    b->bytes = realloc(b->bytes, b->capacity);
    if (b->bytes == NULL) die("realloc");
  }
  memcpy(b->bytes + b->length, bytes, length);
  b->length += length;
  b->bytes[b->length] = '\0';
}

static void append_text(struct buffer *b, const char *text) { append(b, text, strlen(text)); }

static void append_json(struct buffer *b, const char *bytes, size_t length) {
  append(b, "\"", 1);
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)bytes[i];
    char escaped[8];
    if (c == '"' || c == '\\' || c < 0x20 || c >= 0x7f) {
      snprintf(escaped, sizeof escaped, "\\u%04x", c);
      append(b, escaped, 6);
    } else {
      append(b, bytes + i, 1);
    }
  }
  append(b, "\"", 1);
}

/* Reads fd to its end. */
static void append_all(struct buffer *b, int fd) {
  char chunk[65536];
  for (;;) {
    ssize_t n = read(fd, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    append(b, chunk, (size_t)n);
  }
}

/* Appends the whole file and returns 1; returns 0 if the file does not exist. */
static int append_file(struct buffer *b, const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  append_all(b, fd);
  close(fd);
  return 1;
}

static void write_all(int fd, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t n = write(fd, bytes, length);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) _exit(126);
    bytes += n;
    length -= (size_t)n;
  }
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static char own_path[PATH_MAX];

static const char *own_name(void) {
  const char *slash = strrchr(own_path, '/');
  return slash == NULL ? own_path : slash + 1;
}

/* Appends this call's line to the log; `input` is the stdin read so far. */
static void record(int argc, char **argv, const struct buffer *input) {
  ssize_t n = readlink("/proc/self/exe", own_path, sizeof own_path - 1);
  if (n < 0) die("/proc/self/exe");
  own_path[n] = '\0';
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);

  struct buffer line = {0};
  append_text(&line, "{\"plugin\":");
  append_json(&line, own_name(), strlen(own_name()));
  append_text(&line, ",\"argv\":[");
  for (int i = 0; i < argc; i++) {
    if (i > 0) append(&line, ",", 1);
    append_json(&line, argv[i], strlen(argv[i]));
  }
  size_t count = 0;
  while (environ[count] != NULL) count++;
  char **sorted = calloc(count + 1, sizeof *sorted);
  if (sorted == NULL) die("calloc");
  memcpy(sorted, environ, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, by_text);
  append_text(&line, "],\"env\":[");
  for (size_t i = 0; i < count; i++) {
    if (i > 0) append(&line, ",", 1);
    append_json(&line, sorted[i], strlen(sorted[i]));
  }
  append_text(&line, "],\"stdin\":");
  append_json(&line, input->bytes == NULL ? "" : input->bytes, input->length);
  char tail[96];
  snprintf(tail, sizeof tail, ",\"time\":%lld.%06ld,\"pid\":%d}\n", (long long)now.tv_sec, now.tv_nsec / 1000, (int)getpid());
  append_text(&line, tail);

  char log_path[PATH_MAX + 8];
  snprintf(log_path, sizeof log_path, "%s.log", own_path);
  int fd = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) die(log_path);
  if (write(fd, line.bytes, line.length) != (ssize_t)line.length) die("write to log");
  close(fd);
  free(sorted);
  free(line.bytes);
}

/* The unparsed text of a top-level member of a JSON object; NULL if the object lacks it. It counts brackets and skips
   strings, but does not validate the JSON, which is sufficient for a host's requests. */
static char *member(const char *json, const char *key) {
  int depth = 0;
  size_t key_length = strlen(key);
  for (const char *p = json; *p != '\0'; p++) {
    if (*p == '{' || *p == '[') {
      depth++;
    } else if (*p == '}' || *p == ']') {
      depth--;
    } else if (*p == '"') {
      const char *start = ++p;
      while (*p != '\0' && *p != '"') p += (*p == '\\' && p[1] != '\0') ? 2 : 1;
      if (*p == '\0') return NULL;
      const char *after = p + 1;
      while (*after == ' ' || *after == '\t' || *after == '\n' || *after == '\r') after++;
      if (depth != 1 || *after != ':' || (size_t)(p - start) != key_length || strncmp(start, key, key_length) != 0) continue;
      after++;
      while (*after == ' ' || *after == '\t' || *after == '\n' || *after == '\r') after++;
      const char *end = after;
      int inner = 0;
      for (; *end != '\0'; end++) {
        if (*end == '"') {
          for (end++; *end != '\0' && *end != '"'; end++)
            if (*end == '\\' && end[1] != '\0') end++;
          if (*end == '\0') return NULL;
        } else if (*end == '{' || *end == '[') {
          inner++;
        } else if (*end == '}' || *end == ']') {
          if (inner == 0) break;
          inner--;
        } else if (*end == ',' && inner == 0) {
          break;
        }
      }
      char *copy = strndup(after, (size_t)(end - after));
      if (copy == NULL) die("strndup");
      return copy;
    }
  }
  return NULL;
}

static const char *variable(const char *name) {
  const char *value = getenv(name);
  return value == NULL ? "" : value;
}

/* The configuration's cniVersion without its quotes; by default "0.1.0". */
static char *config_version(const struct buffer *input) {
  char *text = input->bytes == NULL ? NULL : member(input->bytes, "cniVersion");
  size_t length = text == NULL ? 0 : strlen(text);
  while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL) length--;
  if (length < 3 || text[0] != '"') return strdup("0.1.0");
  return strndup(text + 1, length - 2);
}

/* Appends a small valid result of `version`. */
static void append_result(struct buffer *out, const char *version) {
  char text[1024];
  if (strncmp(version, "0.1.", 4) == 0 || strncmp(version, "0.2.", 4) == 0) {
    snprintf(text, sizeof text, "{\"cniVersion\":\"%s\",\"ip4\":{\"ip\":\"10.99.0.2/24\",\"gateway\":\"10.99.0.1\"},\"dns\":{}}", version);
  } else {
    snprintf(text, sizeof text,
             "{\"cniVersion\":\"%s\",\"interfaces\":[{\"name\":\"%s\",\"sandbox\":\"%s\"}],"
             "\"ips\":[{%s\"address\":\"10.99.0.2/24\",\"gateway\":\"10.99.0.1\",\"interface\":0}]}",
             version, variable("CNI_IFNAME"), variable("CNI_NETNS"), version[0] == '0' ? "\"version\":\"4\"," : "");
  }
  append_text(out, text);
}

#define ALL_VERSIONS "{\"cniVersion\":\"1.1.0\",\"supportedVersions\":[\"0.1.0\",\"0.2.0\",\"0.3.0\",\"0.3.1\",\"0.4.0\",\"1.0.0\",\"1.1.0\"]}"

/* The answer of a well-behaved plugin that does nothing: prevResult, or a small result. */
static void answer_well(const struct buffer *input) {
  const char *verb = variable("CNI_COMMAND");
  struct buffer out = {0};
  if (strcmp(verb, "VERSION") == 0) {
    append_text(&out, ALL_VERSIONS);
  } else if (strcmp(verb, "ADD") == 0) {
    char *previous = input->bytes == NULL ? NULL : member(input->bytes, "prevResult");
    if (previous != NULL && strcmp(previous, "null") != 0) append_text(&out, previous);
    else append_result(&out, config_version(input));
  }
  write_all(1, out.bytes == NULL ? "" : out.bytes, out.length);
}

#endif
