/* The entry point of the shim without a libc (x86-64).

   Reason: before main, glibc queries the processor's features some 70 times (CPUID). In a virtual machine each query exits to the hypervisor.
   All queries together take 0.3 ms of a process that lives for less than 1 ms, and every call of the runtime starts one. The shim needs a
   few dozen system calls and string functions of a libc. This folder has them under their usual names, so the other sources are the same
   with and without a libc. Where this folder cannot be built, the shim is linked with a libc. */
#ifndef __x86_64__
#error "only x86-64 has an entry without a libc"
#endif

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "kernel.h"

#define HIDDEN __attribute__((visibility("hidden")))

enum { PAGE = 4096 };

extern const Elf64_Ehdr __ehdr_start HIDDEN;
extern const Elf64_Dyn _DYNAMIC[] HIDDEN;
int main(int argc, char **argv);
_Noreturn void _exit(int status);

uintptr_t __stack_chk_guard;
char **environ;
char *program_invocation_short_name = "";
static uintptr_t executed_path;

/* The stack at the start of a process: argc, argv, NULL, environ, NULL, pairs of the auxiliary vector (System V ABI, 3.4). */
__asm__(".globl _start\n"
        ".type _start, @function\n"
        "_start:\n"
        "  endbr64\n"
        "  xor %ebp, %ebp\n"
        "  mov %rsp, %rdi\n"
        "  and $-16, %rsp\n"
        "  call bare_start\n"
        "  hlt\n");

/* Relocates the pointers in a table of the form DT_RELR. An even entry is the offset of one pointer. An odd entry is a bitmap of the 63 words
   after the last pointer or bitmap: a set bit 1 means that the first word is a pointer, a set bit 63 the last. */
static __attribute__((no_stack_protector)) void relocate_packed(uintptr_t base, const uintptr_t *entry, size_t size) {
    uintptr_t *next = NULL;
    for (const uintptr_t *end = entry + size / sizeof *entry; entry < end; entry++) {
        if ((*entry & 1) == 0) {
            next = (uintptr_t *)(base + *entry);
            *next++ += base;
            continue;
        }
        for (size_t bit = 0; (*entry >> (bit + 1)) != 0; bit++)
            if ((*entry >> (bit + 1) & 1) != 0) next[bit] += base;
        next += 63;
    }
}

/* Makes the pointers in the data absolute. No code may read such a pointer before. */
static __attribute__((no_stack_protector)) void relocate(uintptr_t base) {
    uintptr_t table = 0, size = 0, packed = 0, packed_size = 0;
    for (const Elf64_Dyn *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_RELA) table = base + entry->d_un.d_ptr;
        if (entry->d_tag == DT_RELASZ) size = entry->d_un.d_val;
        if (entry->d_tag == 36 /* DT_RELR */) packed = base + entry->d_un.d_ptr;
        if (entry->d_tag == 35 /* DT_RELRSZ */) packed_size = entry->d_un.d_val;
    }
    for (const Elf64_Rela *rela = (const void *)table; size >= sizeof *rela; rela++, size -= sizeof *rela)
        if (ELF64_R_TYPE(rela->r_info) == R_X86_64_RELATIVE) *(uintptr_t *)(base + rela->r_offset) = base + (uintptr_t)rela->r_addend;
    if (packed_size > 0) relocate_packed(base, (const void *)packed, packed_size);
}

/* Makes the relocated data read-only. */
static void seal(uintptr_t base, const Elf64_Phdr *header, size_t count) {
    for (; count > 0; header++, count--) {
        if (header->p_type != PT_GNU_RELRO) continue;
        uintptr_t from = (base + header->p_vaddr) & -(uintptr_t)PAGE, to = (base + header->p_vaddr + header->p_memsz) & -(uintptr_t)PAGE;
        if (to > from) kernel(SYS_mprotect, (long)from, (long)(to - from), 1 /* PROT_READ */);
    }
}

_Noreturn __attribute__((used, no_stack_protector)) void bare_start(uintptr_t *stack) {
    uintptr_t base = (uintptr_t)&__ehdr_start;
    relocate(base);
    int argc = (int)*stack;
    char **argv = (char **)(stack + 1);
    environ = argv + argc + 1;
    char **after = environ;
    while (*after != NULL) after++;
    const Elf64_Phdr *headers = NULL;
    size_t count = 0;
    for (const Elf64_auxv_t *entry = (const void *)(after + 1); entry->a_type != AT_NULL; entry++) {
        if (entry->a_type == AT_PHDR) headers = (const void *)entry->a_un.a_val;
        if (entry->a_type == AT_PHNUM) count = entry->a_un.a_val;
        if (entry->a_type == AT_EXECFN) executed_path = entry->a_un.a_val;
        /* the lowest byte is 0: an overrunning string function stops there */
        if (entry->a_type == AT_RANDOM) __stack_chk_guard = *(const uintptr_t *)entry->a_un.a_val & ~(uintptr_t)0xff;
    }
    seal(base, headers, count);
    if (argc > 0) program_invocation_short_name = argv[0];
    for (char *at = program_invocation_short_name; *at != 0; at++)
        if (*at == '/') program_invocation_short_name = at + 1;
    _exit(main(argc, argv));
}

/* Answers AT_EXECFN, the only type that the shim asks for, and 0 for any other. */
unsigned long getauxval(unsigned long type) { return type == AT_EXECFN ? executed_path : 0; }

_Noreturn __attribute__((no_stack_protector)) void __stack_chk_fail(void) {
    for (;;) __asm__ volatile("ud2");
}
