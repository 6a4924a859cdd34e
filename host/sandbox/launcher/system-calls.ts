// The system calls that Node needs to run guests, recorded with strace from the real workload: start, compilation, calls, garbage collection,
// crash, end. system-calls.test.ts repeats the workload and names a call that is missing here.

import { arch as nodeArchitecture } from "node:process";
import { type AllowedCall, type ArgumentRule, filterProgram, type UnlistedAnswer } from "./filter-program.ts";

type Numbers = readonly [x64: number | undefined, arm64: number | undefined];

const readOnly = 0;
/** O_ACCMODE, O_CREAT, O_TRUNC, and O_TMPFILE without O_DIRECTORY. */
const writing = 0x3 | 0x40 | 0x200 | 0x40_0000;
const CLONE_THREAD = 0x1_0000;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const newNamespaces = 0x7e02_0000;

const anyOf = (argument: number, ...values: readonly number[]): ArgumentRule => ({ argument, mask: 0xffff_ffff, values });

/** The calls by name, the most frequent ones first: each has its number on x86-64 and arm64, and perhaps a condition. */
const calls: Readonly<Record<string, readonly [numbers: Numbers, rule?: ArgumentRule]>> = {
  read: [[0, 63]],
  write: [[1, 64]],
  futex: [[202, 98]],
  mprotect: [[10, 226]],
  mmap: [[9, 222]],
  munmap: [[11, 215]],
  madvise: [[28, 233]],
  epoll_wait: [[232, undefined]],
  epoll_pwait: [[281, 22]],
  epoll_pwait2: [[441, 441]],
  epoll_ctl: [[233, 21]],
  epoll_create1: [[291, 20]],
  clock_gettime: [[228, 113]],
  clock_getres: [[229, 114]],
  clock_nanosleep: [[230, 115]],
  nanosleep: [[35, 101]],
  gettimeofday: [[96, 169]],
  sched_yield: [[24, 124]],
  sched_getparam: [[143, 121]],
  sched_getscheduler: [[145, 120]],
  sched_getaffinity: [[204, 123]],
  getcpu: [[309, 168]],
  pkey_mprotect: [[329, 288]],
  pkey_alloc: [[330, 289]],
  pkey_free: [[331, 290]],
  mremap: [[25, 216]],
  mincore: [[27, 232]],
  brk: [[12, 214]],
  membarrier: [[324, 283]],
  getrandom: [[318, 278]],
  rt_sigaction: [[13, 134]],
  rt_sigprocmask: [[14, 135]],
  rt_sigreturn: [[15, 139]],
  sigaltstack: [[131, 132]],
  restart_syscall: [[219, 128]],
  // Threads only: no process, no namespace. clone3 hides its flags in memory, so it is not allowed, and the C library uses clone.
  clone: [[56, 220], { argument: 0, mask: CLONE_THREAD | newNamespaces, values: [CLONE_THREAD] }],
  set_robust_list: [[273, 99]],
  set_tid_address: [[218, 96]],
  rseq: [[334, 293]],
  arch_prctl: [[158, undefined]],
  exit: [[60, 93]],
  exit_group: [[231, 94]],
  gettid: [[186, 178]],
  getpid: [[39, 172]],
  getppid: [[110, 173]],
  getuid: [[102, 174]],
  geteuid: [[107, 175]],
  getgid: [[104, 176]],
  getegid: [[108, 177]],
  capget: [[125, 90]],
  getrusage: [[98, 165]],
  uname: [[63, 160]],
  sysinfo: [[99, 179]],
  // The process may change its own limits only. It cannot raise a hard limit.
  prlimit64: [[302, 261], anyOf(0, 0)],
  getrlimit: [[97, 163]],
  // PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_GET_NO_NEW_PRIVS, and PR_SET_VMA, with which V8 names its memory.
  prctl: [[157, 167], anyOf(0, 3, 15, 16, 39, 0x5356_4d41)],
  openat: [[257, 56], { argument: 2, mask: writing, values: [readOnly] }],
  open: [[2, undefined], { argument: 1, mask: writing, values: [readOnly] }],
  close: [[3, 57]],
  close_range: [[436, 436]],
  fstat: [[5, 80]],
  stat: [[4, undefined]],
  lstat: [[6, undefined]],
  newfstatat: [[262, 79]],
  statx: [[332, 291]],
  statfs: [[137, 43]],
  access: [[21, undefined]],
  faccessat: [[269, 48]],
  faccessat2: [[439, 439]],
  readlink: [[89, undefined]],
  readlinkat: [[267, 78]],
  getcwd: [[79, 17]],
  getdents64: [[217, 61]],
  lseek: [[8, 62]],
  pread64: [[17, 67]],
  readv: [[19, 65]],
  writev: [[20, 66]],
  pipe2: [[293, 59]],
  eventfd2: [[290, 19]],
  dup: [[32, 23]],
  poll: [[7, undefined]],
  ppoll: [[271, 73]],
  // F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC. Not F_SETOWN, which sends signals.
  fcntl: [[72, 25], anyOf(1, 0, 1, 2, 3, 4, 1030)],
  // TCGETS (is it a terminal?), FIONREAD, FIONBIO, FIONCLEX, FIOCLEX.
  ioctl: [[16, 29], anyOf(1, 0x5401, 0x541b, 0x5421, 0x5450, 0x5451)],
  // The launcher executes Node. The jail has no program but Node.
  execve: [[59, 221]],
};

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64, and the column of the numbers. */
const architectures: Readonly<Record<string, { readonly audit: number; readonly column: 0 | 1 }>> = {
  x64: { audit: 0xc000_003e, column: 0 },
  arm64: { audit: 0xc000_00b7, column: 1 },
};

/** The names of the allowed calls. */
export const allowedNames: readonly string[] = Object.keys(calls);

/** The filter for this machine's architecture as hexadecimal digits; undefined: the numbers of this architecture are not known here. */
export function systemCallFilter(architecture: string = nodeArchitecture, unlisted?: UnlistedAnswer): string | undefined {
  const known = architectures[architecture];
  if (known === undefined) return undefined;
  const allowed = Object.values(calls).flatMap(([numbers, rule]): readonly AllowedCall[] => {
    const number = numbers[known.column];
    return number === undefined ? [] : [{ number, rule }];
  });
  return filterProgram(known.audit, allowed, unlisted).toString("hex");
}
