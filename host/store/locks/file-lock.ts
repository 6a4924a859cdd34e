// Advisory locks on files: they exclude processes from each other, and end with the process that holds them, however it ends. A whole
// file is locked as flock(1) and native host-local do it. One byte of a file is a lock of our own, of which a file has as many as are
// needed, so that nothing has to be made and removed for each: on a disk that is writing, that takes milliseconds.

import { closeSync, constants, fstatSync, lstatSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { makeDirectory } from "../files/make-directory.ts";
import { tryByteLock, tryFlock, unlockByte, unlockFlock } from "../libc/libc.ts";

export interface LockRequest {
  /** A plain file; made, for its owner alone, where it is missing. A symbolic link is not followed. */
  readonly path: string;
  /** Which byte is the lock; the whole file where it is absent. Byte locks and whole ones don't see each other. */
  readonly byte?: number;
  /** How long to wait for others, in ms; 0 tries once. */
  readonly deadlineMs: number;
  /** Whether other shared locks may stand beside it. */
  readonly shared: boolean;
  /** Whether a missing directory is made too, for its owner alone: then a holder may remove it with the file before it releases. */
  readonly makesDirectory?: boolean;
}

/** A lock that is held until `release`, or until this process ends. */
export interface FileLock {
  readonly path: string;
  /** Once. */
  release(): void;
}

/** `errno` 0: `lock` is held. ETIMEDOUT: others held it until the deadline. */
export type LockAnswer = { readonly errno: 0; readonly lock: FileLock } | { readonly errno: number; readonly lock?: undefined };

export const ENOENT = 2;
export const ETIMEDOUT = 110;
const EWOULDBLOCK = 11;
const EINVAL = 22;

const PERMISSIONS = 0o600;
/** What isn't a plain file must not be waited for while it is opened. */
const OPEN = constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Milliseconds between tries: a lease's lock is held for less than the shortest, a container's for seconds. */
const SHORTEST_PAUSE = 0.25;
const LONGEST_PAUSE = 10;

/** Takes a lock, blocking this thread. `beforeTry` is called before each try; what it throws ends the waiting. */
export function lockSync(request: LockRequest, beforeTry: () => void = () => {}): LockAnswer {
  const tries = tryInTurns(request);
  let sleeper: Int32Array | undefined;
  for (;;) {
    beforeTry();
    const step = tries.next();
    if (step.done === true) return step.value;
    sleeper ??= new Int32Array(new SharedArrayBuffer(4));
    Atomics.wait(sleeper, 0, 0, step.value);
  }
}

/** The same where others are served while this one waits. */
export async function lockAsync(request: LockRequest, signal?: AbortSignal): Promise<LockAnswer> {
  const tries = tryInTurns(request);
  for (let step = tries.next(); ; step = tries.next()) {
    if (step.done === true) return step.value;
    const { setTimeout } = await import("node:timers/promises");
    await setTimeout(step.value, undefined, signal === undefined ? {} : { signal });
  }
}

/** Tries until the lock is had or can't be had; yields how many ms to pause before the next try. Holds nothing meanwhile. */
function* tryInTurns(request: LockRequest): Generator<number, LockAnswer, void> {
  const due = performance.now() + request.deadlineMs;
  // Only who waited, or takes locks that go with their directory, may find a file locked that has lost its name.
  let mayBeRemoved = request.makesDirectory === true;
  for (let pause = SHORTEST_PAUSE; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
    const answer = tryLock(request, mayBeRemoved);
    mayBeRemoved = true;
    if (answer.errno !== EWOULDBLOCK) return answer;
    const left = due - performance.now();
    if (left <= 0) return { errno: ETIMEDOUT };
    yield Math.min(pause, left);
  }
}

type Opened = { readonly errno: 0; readonly fd: number } | { readonly errno: number; readonly fd?: undefined };

function tryLock(request: LockRequest, mayBeRemoved: boolean): LockAnswer {
  const { path, byte, shared } = request;
  const opened = open(request);
  if (opened.fd === undefined) return { errno: opened.errno };
  const { fd } = opened;
  const errno = byte === undefined ? lockWhole(fd, shared) : lockByte(fd, byte, shared);
  if (errno === 0 && (byte !== undefined || !mayBeRemoved || isNamed(fd, path))) return { errno, lock: held(fd, request) };
  closeSync(fd);
  // A holder may have removed the file between our opening and locking it: another file is the lock now.
  return { errno: errno === 0 ? EWOULDBLOCK : errno };
}

function lockWhole(fd: number, shared: boolean): number {
  return fstatSync(fd).isFile() ? tryFlock(fd, shared) : EINVAL;
}

/** A file of byte locks stays, unless somebody removes it by hand. */
function lockByte(fd: number, byte: number, shared: boolean): number {
  const errno = tryByteLock(fd, byte, shared);
  if (errno !== 0) return errno;
  const stats = fstatSync(fd);
  if (!stats.isFile()) return EINVAL;
  return stats.nlink === 0 ? EWOULDBLOCK : 0;
}

function open(request: LockRequest): Opened {
  const opened = openFile(request);
  if (request.makesDirectory !== true || opened.errno !== ENOENT) return opened;
  try {
    makeDirectory(dirname(request.path));
  } catch (error) {
    return { errno: errnoOf(error) };
  }
  const again = openFile(request);
  return again.errno === ENOENT ? { errno: EWOULDBLOCK } : again; // a holder just removed it
}

function openFile({ path, byte }: LockRequest): Opened {
  try {
    const access = byte === undefined ? constants.O_RDONLY : constants.O_RDWR;
    return { fd: openSync(path, OPEN | access, PERMISSIONS), errno: 0 }; // libuv adds O_CLOEXEC
  } catch (error) {
    return { errno: errnoOf(error) };
  }
}

function isNamed(fd: number, path: string): boolean {
  const named = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  const ours = fstatSync(fd, { bigint: true });
  return named !== undefined && named.ino === ours.ino && named.dev === ours.dev;
}

function held(fd: number, { path, byte }: LockRequest): FileLock {
  return {
    path,
    release() {
      if (byte === undefined) unlockFlock(fd);
      else unlockByte(fd, byte);
      closeSync(fd);
    },
  };
}

/** Positive, as the kernel's headers have it. Anything but an error of a system call is a defect and passes through. */
function errnoOf(error: unknown): number {
  if (error instanceof Error && "errno" in error && typeof error.errno === "number") return Math.abs(error.errno);
  throw error;
}
