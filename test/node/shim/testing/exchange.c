/* Exchanges two names again and again until it is killed. A path then leads to either file, depending on the moment. */
#include <fcntl.h>
#include <stdio.h>

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    while (renameat2(AT_FDCWD, argv[1], AT_FDCWD, argv[2], RENAME_EXCHANGE) == 0) continue;
    perror("renameat2");
    return 1;
}
