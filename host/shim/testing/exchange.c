/* Exchanges two names for each other, again and again, until it is killed: what a path leads to then depends on the moment. */
#include <fcntl.h>
#include <stdio.h>

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    while (renameat2(AT_FDCWD, argv[1], AT_FDCWD, argv[2], RENAME_EXCHANGE) == 0) continue;
    perror("renameat2");
    return 1;
}
