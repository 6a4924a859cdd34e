/* One system call. */
#ifndef PLEXUS_BARE_KERNEL_H
#define PLEXUS_BARE_KERNEL_H

/* Answers the kernel's result: a value, or a negative errno. */
static inline long kernel_call(long number, long a, long b, long c, long d, long e, long f) {
    register long fourth __asm__("r10") = d, fifth __asm__("r8") = e, sixth __asm__("r9") = f;
    long answer;
    __asm__ volatile("syscall" : "=a"(answer) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth) : "rcx", "r11", "memory");
    return answer;
}

#define KERNEL_PICK(number, a, b, c, d, e, f, ...) kernel_call(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define kernel(...) KERNEL_PICK(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

#endif
