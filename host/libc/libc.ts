// System calls that Node does not have, through node:ffi, where one takes a microsecond. Loaded with the first of them (1–2 ms), so
// that a call which needs none does not pay for it. The module is still experimental: the hands start the brain with
// --disable-warning=ExperimentalWarning.

/** From Linux' <sys/file.h> and <poll.h>, the same on every architecture. */
const LOCK_SH = 1;
const LOCK_EX = 2;
const LOCK_NB = 4;
const LOCK_UN = 8;
const POLLOUT = 0x4;
const POLLERR = 0x8;
const POLLHUP = 0x10;
/** <fcntl.h>: locks of an open file, not of a process; the generic numbers, which no 64-bit architecture of Node's changes. */
const F_OFD_SETLK = 37;
const F_RDLCK = 0;
const F_WRLCK = 1;
const F_UNLCK = 2;
const SOL_SOCKET = 1;
const SO_PEERCRED = 17;

interface Libc {
  /** 0 or the errno. */
  readonly flock: (fd: number, operation: number) => number;
  /** 0 or the errno. Only for commands that take a pointer. */
  readonly fcntl: (fd: number, command: number, argument: Buffer) => number;
  /** How many of the descriptors have something to tell. */
  readonly poll: (descriptors: Buffer, count: bigint, timeoutMs: number) => number;
  /** 0, or -1. */
  readonly getsockopt: (fd: number, level: number, name: number, value: Buffer, size: Buffer) => number;
}

let loaded: Libc | undefined;

/** Takes the lock of an open file if nobody is in the way. Answers 0 or the errno (11, EWOULDBLOCK: somebody is). */
export function tryFlock(fd: number, shared: boolean): number {
  return libc().flock(fd, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB);
}

/** Gives the lock back, also where a process that was being started at this moment still shares the open file. */
export function unlockFlock(fd: number): void {
  libc().flock(fd, LOCK_UN);
}

/**
 * Takes the lock of one byte of an open file if nobody is in the way; the file need not be that long. The file must be open for
 * writing, or for reading where the lock is shared. Answers 0 or the errno (11, EAGAIN: somebody is). Two opens of a file exclude each
 * other in one process, too.
 */
export function tryByteLock(fd: number, byte: number, shared: boolean): number {
  return libc().fcntl(fd, F_OFD_SETLK, oneByte(shared ? F_RDLCK : F_WRLCK, byte));
}

/** As `unlockFlock`. */
export function unlockByte(fd: number, byte: number): void {
  libc().fcntl(fd, F_OFD_SETLK, oneByte(F_UNLCK, byte));
}

/** A `struct flock`: short type, short whence (0: from the file's beginning), long start, long length, int pid. */
function oneByte(type: number, byte: number): Buffer {
  const lock = Buffer.alloc(32);
  const { buffer, byteOffset } = lock;
  new Int16Array(buffer, byteOffset, 1)[0] = type;
  const range = new BigInt64Array(buffer, byteOffset + 8, 2);
  range[0] = BigInt(byte);
  range[1] = 1n;
  return lock;
}

/** Whether the other end of a stream socket is closed, whatever there still is to be read. */
export function isHungUp(fd: number): boolean {
  const descriptor = Buffer.alloc(8); // struct pollfd: int fd; short events; short revents
  new Int32Array(descriptor.buffer, descriptor.byteOffset, 1)[0] = fd;
  const revents = new Int16Array(descriptor.buffer, descriptor.byteOffset + 6, 1);
  return libc().poll(descriptor, 1n, 0) > 0 && ((revents[0] ?? 0) & (POLLHUP | POLLERR)) !== 0;
}

/** The uid of the process at the other end of a unix socket (SO_PEERCRED); undefined where the system doesn't say. */
export function peerUid(fd: number): number | undefined {
  const credentials = Buffer.alloc(12); // struct ucred: pid, uid, gid
  const size = Buffer.alloc(4);
  const numbers = new Uint32Array(credentials.buffer, credentials.byteOffset, 3);
  new Uint32Array(size.buffer, size.byteOffset, 1)[0] = credentials.length;
  return libc().getsockopt(fd, SOL_SOCKET, SO_PEERCRED, credentials, size) === 0 ? numbers[1] : undefined;
}

/** Whether a write to the descriptor would not wait: for a pipe, one of at most 4096 bytes. Also where nobody will ever read. */
export function isWritable(fd: number): boolean {
  const descriptor = Buffer.alloc(8);
  new Int32Array(descriptor.buffer, descriptor.byteOffset, 1)[0] = fd;
  new Int16Array(descriptor.buffer, descriptor.byteOffset + 4, 1)[0] = POLLOUT;
  return libc().poll(descriptor, 1n, 0) > 0;
}

function libc(): Libc {
  loaded ??= load();
  return loaded;
}

function load(): Libc {
  const ffi = process.getBuiltinModule("node:ffi");
  const { functions } = ffi.dlopen(null, {
    flock: { arguments: ["i32", "i32"], return: "i32" },
    fcntl: { arguments: ["i32", "i32", "buffer"], return: "i32" },
    poll: { arguments: ["buffer", "u64", "i32"], return: "i32" },
    getsockopt: { arguments: ["i32", "i32", "i32", "buffer", "buffer"], return: "i32" },
    __errno_location: { arguments: [], return: "pointer" },
  });
  const errno = functions.__errno_location();
  return {
    // Between the two nothing may run that makes a system call: it would overwrite errno.
    flock: (fd, operation) => (functions.flock(fd, operation) === 0 ? 0 : ffi.getInt32(errno, 0)),
    fcntl: (fd, command, argument) => (functions.fcntl(fd, command, argument) !== -1 ? 0 : ffi.getInt32(errno, 0)),
    poll: functions.poll,
    getsockopt: functions.getsockopt,
  };
}
