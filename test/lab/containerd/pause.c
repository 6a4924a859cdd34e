// The only program of the sandbox image. It holds a pod's namespaces until a signal kills it.
#include <unistd.h>

int main(void) {
  for (;;) pause();
}
