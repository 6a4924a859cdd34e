// Advisory file locks. A lock excludes other processes and ends with the process that holds it, however that process ends. Whole files are locked with flock(2), as
// flock(1) and native host-local do. A byte of a file is Plexus' own kind of lock: one file has as many of them as needed. A file for each lock would have to be made
// and removed, which takes milliseconds on a busy disk.

import { closeSync, constants, fstatSync, lstatSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { makeDirectory } from "../files/make-directory.ts";
import { tryByteLock, tryFlock, unlockByte, unlockFlock } from "../../system/libc/libc.ts";
import { EINVAL, ENOENT, ETIMEDOUT, EWOULDBLOCK } from "../../system/errno.ts";
import { monotonicMs } from "../../system/clock.ts";
import { openMade } from "../files/shared-with-root.ts";

/** A lock to take. */
export interface LockRequest {
  /** A regular file; a missing one is made with mode 0600. A symbolic link is not followed. */
  readonly path: string;
  /** The offset of the locked byte; absent: the whole file. Byte locks and whole-file locks do not exclude each other. */
  readonly byte?: number;
  /** Maximum wait in ms; 0 tries once. */
  readonly deadlineMs: number;
  /** Shared locks exclude exclusive locks, but not each other. */
  readonly shared: boolean;
  /** Whether a missing directory is made, too (mode 0700). A holder may then remove the file and the directory before its release. */
  readonly makesDirectory?: boolean;
}

/** A lock that is held until `release`, or until this process ends. */
export interface FileLock {
  readonly path: string;
  /** Releases the lock; call it once. */
  release(): void;
}

/** `errno` 0: `lock` is held. ETIMEDOUT: the lock was not free before the deadline. Other values: the file cannot be opened or locked. */
export type LockAnswer = { readonly errno: 0; readonly lock: FileLock } | { readonly errno: number; readonly lock?: undefined };

/** Takes a lock for a call, without blocking the event loop. */
export type TakeLock = (request: LockRequest) => Promise<LockAnswer>;

const PERMISSIONS = 0o600;
/** O_NONBLOCK: opening a pipe must not block. */
const OPEN = constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Milliseconds between tries. A lease's lock is held for less than the minimum, a container's lock for seconds. */
const MIN_PAUSE_MS = 0.25;
const MAX_PAUSE_MS = 10;

/** Tries once to take a lock. ETIMEDOUT: the lock is not free. */
export function lockNow(request: LockRequest): LockAnswer {
  const answer = tryLock(request, request.makesDirectory === true);
  return answer.errno === EWOULDBLOCK ? { errno: ETIMEDOUT } : answer;
}

/** Takes a lock: tries until it is held, fails or times out. No file is open during a pause. Rejects if `signal` aborts. */
export async function lockAsync(request: LockRequest, signal?: AbortSignal): Promise<LockAnswer> {
  const due = monotonicMs() + request.deadlineMs;
  // The locked file may have lost its name in two cases: after a wait, and if holders remove the file with its directory.
  let mayBeRemoved = request.makesDirectory === true;
  for (let pauseMs = MIN_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    const answer = tryLock(request, mayBeRemoved);
    mayBeRemoved = true;
    if (answer.errno !== EWOULDBLOCK) return answer;
    const left = due - monotonicMs();
    if (left <= 0) return { errno: ETIMEDOUT };
    await pause(Math.min(pauseMs, left), undefined, signal === undefined ? {} : { signal });
  }
}

type Opened = { readonly errno: 0; readonly fd: number } | { readonly errno: number; readonly fd?: undefined };

function tryLock(request: LockRequest, mayBeRemoved: boolean): LockAnswer {
  const { path, byte, shared } = request;
  const opened = open(request);
  if (opened.fd === undefined) return { errno: opened.errno };
  const { fd } = opened;
  const errno = byte === undefined ? lockWhole(fd, shared) : lockByte(fd, byte, shared);
  if (errno === 0 && (byte !== undefined || !mayBeRemoved || isNamed(fd, path))) return { errno, lock: heldLock(fd, request) };
  closeSync(fd);
  // A holder may have removed the file between the open and the lock; then a new file is the lock.
  return { errno: errno === 0 ? EWOULDBLOCK : errno };
}

function lockWhole(fd: number, shared: boolean): number {
  return fstatSync(fd).isFile() ? tryFlock(fd, shared) : EINVAL;
}

/** Plexus never removes a file of byte locks; an administrator may (`nlink` 0). */
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
  return again.errno === ENOENT ? { errno: EWOULDBLOCK } : again; // a holder has just removed the directory
}

function openFile({ path, byte }: LockRequest): Opened {
  try {
    const access = byte === undefined ? constants.O_RDONLY : constants.O_RDWR;
    return { fd: openMade(path, OPEN | access, PERMISSIONS), errno: 0 }; // libuv adds O_CLOEXEC
  } catch (error) {
    return { errno: errnoOf(error) };
  }
}

function isNamed(fd: number, path: string): boolean {
  const named = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  const opened = fstatSync(fd, { bigint: true });
  return named !== undefined && named.ino === opened.ino && named.dev === opened.dev;
}

function heldLock(fd: number, { path, byte }: LockRequest): FileLock {
  return {
    path,
    release() {
      if (byte === undefined) unlockFlock(fd);
      else unlockByte(fd, byte);
      closeSync(fd);
    },
  };
}

/** The positive errno of a failed system call. Any other error is a defect and is rethrown. */
function errnoOf(error: unknown): number {
  if (error instanceof Error && "errno" in error && typeof error.errno === "number") return Math.abs(error.errno);
  throw error;
}
