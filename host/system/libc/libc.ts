// System calls that Node lacks, through node:ffi, where one takes a microsecond. The first of them loads node:ffi (1–2 ms), so that a call
// without them does not pay for it. The module is still experimental: the shim starts the engine with
// --disable-warning=ExperimentalWarning.

import { ENOSYS } from "../errno.ts";
import { monotonicMs } from "../clock.ts";

/** From Linux' <sys/file.h> and <poll.h>, the same on every architecture. */
const LOCK_SH = 1;
const LOCK_EX = 2;
const LOCK_NB = 4;
const LOCK_UN = 8;
const POLLIN = 0x1;
const POLLOUT = 0x4;
/** <fcntl.h>: locks of an open file, not of a process; the generic numbers, which no 64-bit architecture of Node's changes. */
const F_OFD_SETLK = 37;
const F_RDLCK = 0;
const F_WRLCK = 1;
const F_UNLCK = 2;
const SOL_SOCKET = 1;
const SO_PEERCRED = 17;

/** <sys/syscall.h>: renameat2 by processor. */
const renameat2: Readonly<Record<string, bigint>> = { x64: 316n, arm64: 276n };
/** <fcntl.h>: a relative path begins at the process' directory. */
const AT_FDCWD = -100;
const RENAME_NOREPLACE = 1;

interface Libc {
  /** 0 or the errno. */
  readonly flock: (fd: number, operation: number) => number;
  /** 0 or the errno. Only for commands that take a pointer. */
  readonly fcntl: (fd: number, command: number, argument: Buffer) => number;
  /** The number of descriptors with events. */
  readonly poll: (descriptors: Buffer, count: bigint, timeoutMs: number) => number;
  /** 0, or -1. */
  readonly getsockopt: (fd: number, level: number, name: number, value: Buffer, size: Buffer) => number;
  /** 0 or the errno. */
  readonly rename: (call: bigint, from: Buffer, to: Buffer, flags: number) => number;
}

let loaded: Libc | undefined;

/** Takes the lock of an open file if it is free. Answers 0 or the errno (11, EWOULDBLOCK: another open file has it). */
export function tryFlock(fd: number, shared: boolean): number {
  return libc().flock(fd, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB);
}

/** Releases the lock, even while a process that is being started still shares the open file. */
export function unlockFlock(fd: number): void {
  libc().flock(fd, LOCK_UN);
}

/**
 * Takes the lock of one byte of an open file if it is free; the file need not be that long. The file must be open for writing, or for
 * reading where the lock is shared. Answers 0 or the errno (11, EAGAIN: another open file has it). Two open files of one process exclude
 * each other, too.
 */
export function tryByteLock(fd: number, byte: number, shared: boolean): number {
  return libc().fcntl(fd, F_OFD_SETLK, oneByte(shared ? F_RDLCK : F_WRLCK, byte));
}

/** As `unlockFlock`. */
export function unlockByte(fd: number, byte: number): void {
  libc().fcntl(fd, F_OFD_SETLK, oneByte(F_UNLCK, byte));
}

// The arguments' memory is allocated once: no other code runs between filling it and the end of the system call.

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

/** The pending events out of `events`, and those that poll() always reports; 0: none. */
function eventsOf(fd: number, events: number, timeoutMs = 0): number {
  polledDescriptor[0] = fd;
  polledEvents[0] = events;
  polledEvents[1] = 0;
  return libc().poll(polled, 1n, timeoutMs) > 0 ? (polledEvents[1] ?? 0) : 0;
}

/** A `struct ucred`: pid, uid, gid; and how long it is. */
const ucred = Buffer.alloc(12);
const ucredNumbers = new Uint32Array(ucred.buffer, ucred.byteOffset, 3);
const ucredLength = Buffer.alloc(4);
const ucredSize = new Uint32Array(ucredLength.buffer, ucredLength.byteOffset, 1);

/** The uid of the process at the other end of a unix socket (SO_PEERCRED); undefined where the system does not know it. */
export function peerUid(fd: number): number | undefined {
  ucredSize[0] = ucred.length;
  return libc().getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ucred, ucredLength) === 0 ? ucredNumbers[1] : undefined;
}

/**
 * Renames a file unless the new name is taken. Answers 0 or the errno: EEXIST if it is taken, EINVAL or ENOSYS where the file system or the processor
 * has no such rename.
 */
export function renameIfFree(from: string, to: string): number {
  const call = renameat2[process.arch];
  return call === undefined ? ENOSYS : libc().rename(call, Buffer.from(`${from}\0`), Buffer.from(`${to}\0`), RENAME_NOREPLACE);
}

/** Waits until a descriptor can be read or its other end is closed, without the event loop. False: neither within the time. */
export function isReadableWithin(fd: number, timeoutMs: number): boolean {
  const until = monotonicMs() + timeoutMs;
  // A signal, such as the one of a child that ends, interrupts poll(2), whatever SA_RESTART says.
  for (let leftMs = timeoutMs; ; leftMs = Math.ceil(until - monotonicMs())) {
    if (eventsOf(fd, POLLIN, Math.max(0, leftMs)) !== 0) return true;
    if (leftMs <= 0) return false;
  }
}

/** Whether a write would not block; for a pipe, a write of at most 4096 bytes. True also where the reader has closed its end. */
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
    // Not renameat2 itself, which older C libraries lack.
    syscall: { arguments: ["i64", "i32", "buffer", "i32", "buffer", "u32"], return: "i64" },
    __errno_location: { arguments: [], return: "pointer" },
  });
  const errno = functions.__errno_location();
  return {
    // No system call may come between the call and the reading of errno.
    flock: (fd, operation) => (functions.flock(fd, operation) === 0 ? 0 : ffi.getInt32(errno, 0)),
    fcntl: (fd, command, argument) => (functions.fcntl(fd, command, argument) !== -1 ? 0 : ffi.getInt32(errno, 0)),
    poll: functions.poll,
    getsockopt: functions.getsockopt,
    rename: (call, from, to, flags) =>
      functions.syscall(call, AT_FDCWD, from, AT_FDCWD, to, flags) === 0n ? 0 : ffi.getInt32(errno, 0),
  };
}
