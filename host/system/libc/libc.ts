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

// What the system calls get and give is made once: nothing else runs between filling it and the call's end.

/** A `struct flock`: short type, short whence (0: from the file's beginning), long start, long length, int pid. */
const lock = Buffer.alloc(32);
const lockType = new Int16Array(lock.buffer, lock.byteOffset, 2);
const lockRange = new BigInt64Array(lock.buffer, lock.byteOffset + 8, 2);

function oneByte(type: number, byte: number): Buffer {
  lockType[0] = type;
  lockType[1] = 0;
  lockRange[0] = BigInt(byte);
  lockRange[1] = 1n;
  return lock;
}

/** A `struct pollfd`: int fd, short events, short revents. */
const polled = Buffer.alloc(8);
const polledDescriptor = new Int32Array(polled.buffer, polled.byteOffset, 1);
const polledEvents = new Int16Array(polled.buffer, polled.byteOffset + 4, 2);

/** What there is of these events, and of those that nobody asks for; 0: nothing. */
function eventsOf(fd: number, events: number): number {
  polledDescriptor[0] = fd;
  polledEvents[0] = events;
  polledEvents[1] = 0;
  return libc().poll(polled, 1n, 0) > 0 ? (polledEvents[1] ?? 0) : 0;
}

/** Whether the other end of a stream socket is closed, whatever there still is to be read. */
export function isHungUp(fd: number): boolean {
  return (eventsOf(fd, 0) & (POLLHUP | POLLERR)) !== 0;
}

/** A `struct ucred`: pid, uid, gid; and how long it is. */
const ucred = Buffer.alloc(12);
const ucredNumbers = new Uint32Array(ucred.buffer, ucred.byteOffset, 3);
const ucredLength = Buffer.alloc(4);
const ucredSize = new Uint32Array(ucredLength.buffer, ucredLength.byteOffset, 1);

/** The uid of the process at the other end of a unix socket (SO_PEERCRED); undefined where the system doesn't say. */
export function peerUid(fd: number): number | undefined {
  ucredSize[0] = ucred.length;
  return libc().getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ucred, ucredLength) === 0 ? ucredNumbers[1] : undefined;
}

/** Whether a write to the descriptor would not wait: for a pipe, one of at most 4096 bytes. Also where nobody will ever read. */
export function isWritable(fd: number): boolean {
  return eventsOf(fd, POLLOUT) !== 0;
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
