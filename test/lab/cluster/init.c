// The first process of a node. The kernel reaps its children, and its death ends every process of the node.
#include <signal.h>
#include <unistd.h>

int main(void) {
  signal(SIGCHLD, SIG_IGN);
  for (;;) pause();
}
