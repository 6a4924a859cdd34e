/* A CNI plugin that uses as much memory as a large Go plugin: on ADD it fills 55 MB, keeps them for 100 ms, and answers. It keeps them longer while
   the file CNI_PATH/gate exists. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 55000000 };

static int gate_exists(void) {
  const char *directory = getenv("CNI_PATH");
  char gate[4096];
  if (directory == NULL || snprintf(gate, sizeof gate, "%s/gate", directory) >= (int)sizeof gate) return 0;
  return access(gate, F_OK) == 0;
}

int main(void) {
  char ignored[4096];
  while (read(0, ignored, sizeof ignored) > 0) continue;
  const char *verb = getenv("CNI_COMMAND");
  if (verb == NULL || strcmp(verb, "ADD") != 0) return 0;
  char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  memset(memory, 'x', BYTES);
  struct timespec pause = {0, 100000000};
  do nanosleep(&pause, NULL);
  while (gate_exists());
  printf("{\"cniVersion\":\"1.0.0\",\"ips\":[{\"address\":\"10.0.0.%d/24\"}]}\n", memory[BYTES - 1] == 'x' ? 1 : 2);
  return 0;
}
