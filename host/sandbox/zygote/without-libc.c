/* Replaces what bare/start.c gives a program: the addon has no entry, and Node's loader relocates it. */
#ifdef PLEXUS_WITHOUT_LIBC
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "../../shim/bare/kernel.h"

uintptr_t __stack_chk_guard;
char **environ = (char *[]){NULL};
char *program_invocation_short_name = "plexus-zygote";

unsigned long getauxval(unsigned long type) { return (void)type, 0; }

_Noreturn __attribute__((no_stack_protector)) void __stack_chk_fail(void) {
    for (;;) __asm__ volatile("ud2");
}

/* The lowest byte is 0: an overrunning string function stops there. */
__attribute__((constructor, no_stack_protector)) static void set_guard(void) {
    uintptr_t random = 0;
    kernel(SYS_getrandom, &random, sizeof random, 0);
    __stack_chk_guard = random & ~(uintptr_t)0xff;
}
#endif
