// The only program of the sandbox image: holds a pod's namespaces until it is killed.
#include <unistd.h>

int main(void) {
  for (;;) pause();
}
