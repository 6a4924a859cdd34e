import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENOENT, ETIMEDOUT } from "../../../host/system/errno.ts";
import { lockSync } from "../../../host/store/locks/testing/lock-sync.ts";
import { type FileLock, lockAsync, type LockAnswer, type LockRequest } from "../../../host/store/locks/file-lock.ts";

const fixture = fileURLToPath(new URL("../../../host/store/locks/fixtures/holder.ts", import.meta.url));

let directory: string;
let made = 0;
const holders: ChildProcess[] = [];
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-locks-"));
});
afterAll(() => {
  for (const holder of holders) holder.kill("SIGKILL");
  rmSync(directory, { recursive: true });
});

/** The path of a lock in a new directory. */
function newLock(): string {
  made += 1;
  const lockDirectory = join(directory, String(made));
  mkdirSync(lockDirectory);
  return join(lockDirectory, "lock");
}

/** Whether flock(1) can take the lock now. */
function isFree(path: string, ...options: readonly string[]): boolean {
  return spawnSync("flock", ["-n", ...options, path, "true"]).status === 0;
}

function lockOf({ errno, lock }: LockAnswer): FileLock {
  expect(errno).toBe(0);
  if (lock === undefined) throw new Error("no lock");
  return lock;
}

/** Starts a process that takes the lock; resolves when the process has printed the errno. */
async function start(...args: readonly string[]): Promise<{ readonly errno: number; readonly process: ChildProcess }> {
  const holder = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", fixture, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  holders.push(holder);
  const [errno] = await once(holder.stdout, "data");
  return { errno: Number(errno), process: holder };
}

function atOnce(path: string): LockRequest {
  return { path, deadlineMs: 0, shared: false };
}

function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

type Take = (request: LockRequest) => Promise<LockAnswer>;
const variants: readonly (readonly [string, Take])[] = [
  ["the locks of tests that block", async (request) => lockSync(request)],
  ["lockAsync", (request) => lockAsync(request)],
];

describe.each(variants)("%s", (_, take) => {
  test("excludes flock(1) until its release, and makes the file with mode 0600", async () => {
    const path = newLock();
    const lock = lockOf(await take({ path, deadlineMs: 1000, shared: false }));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(isFree(path)).toBe(false);
    lock.release();
    expect(isFree(path)).toBe(true);
  });

  test("waits for flock(1), as native host-local does, and gets the lock after its release", async () => {
    const path = newLock();
    const released = `${path}.released`;
    const script = 'echo held; sleep 0.3; : > "$0"';
    const holder = spawn("flock", [path, "sh", "-c", script, released], { stdio: ["ignore", "pipe", "inherit"] });
    await once(holder.stdout, "data");
    const lock = lockOf(await take({ path, deadlineMs: 600_000, shared: false }));
    expect(existsSync(released)).toBe(true);
    expect(isFree(path)).toBe(false);
    lock.release();
  });

  test("gives up at its deadline; a deadline of zero tries once", async () => {
    const path = newLock();
    const held = lockOf(lockSync(atOnce(path)));
    const turn = new Promise((resolve) => setImmediate(resolve, "the event loop turned"));
    expect(await Promise.race([take(atOnce(path)), turn])).toEqual({ errno: ETIMEDOUT });
    const started = performance.now();
    expect(await take({ path, deadlineMs: 300, shared: false })).toEqual({ errno: ETIMEDOUT });
    expect(performance.now() - started).toBeGreaterThanOrEqual(300);
    held.release();
    lockOf(await take(atOnce(path))).release();
  });

  test("grants several shared locks, which exclude an exclusive one", async () => {
    const path = newLock();
    const one = lockOf(await take({ path, deadlineMs: 0, shared: true }));
    const other = lockOf(await take({ path, deadlineMs: 0, shared: true }));
    expect(isFree(path, "-s")).toBe(true);
    one.release();
    expect(await take(atOnce(path))).toEqual({ errno: ETIMEDOUT });
    other.release();
    lockOf(await take(atOnce(path))).release();
  });

  test("locks one byte of a file, independently of other bytes and of the whole file", async () => {
    const path = newLock();
    const [low, high] = [0, Number.MAX_SAFE_INTEGER];
    const held = lockOf(await take({ ...atOnce(path), byte: high }));
    expect(await take({ ...atOnce(path), byte: high })).toEqual({ errno: ETIMEDOUT });
    expect(await take({ ...atOnce(path), byte: high, shared: true })).toEqual({ errno: ETIMEDOUT });
    const shared = [lockOf(await take({ ...atOnce(path), byte: low, shared: true }))];
    shared.push(lockOf(await take({ ...atOnce(path), byte: low, shared: true })));
    expect(await take({ ...atOnce(path), byte: low })).toEqual({ errno: ETIMEDOUT });
    const other = await start(path, "0", "exclusive", String(high));
    expect(other.errno).toBe(ETIMEDOUT);
    expect(isFree(path)).toBe(true);
    for (const { release } of [held, ...shared]) release();
    const otherProcess = await start(path, "0", "exclusive", String(high));
    expect(otherProcess.errno).toBe(0);
    expect(await take({ ...atOnce(path), byte: high })).toEqual({ errno: ETIMEDOUT });
    lockOf(await take({ ...atOnce(path), byte: low })).release();
    otherProcess.process.kill("SIGKILL");
    await once(otherProcess.process, "close");
    lockOf(await take({ ...atOnce(path), byte: high })).release();
    expect(statSync(path)).toMatchObject({ size: 0 });
  });

  test("locks the new file if a holder removed the file during the wait", async () => {
    const path = newLock();
    const holder = await start(path);
    expect(holder.errno).toBe(0);
    const waits = `${path}.waits`;
    const waiting = start(path, "600000", "exclusive", "", "", waits);
    await expect.poll(() => existsSync(waits)).toBe(true);
    rmSync(path);
    holder.process.stdin?.end();
    const waiter = await waiting;
    expect(waiter.errno).toBe(0);
    expect(existsSync(path)).toBe(true);
    expect(isFree(path)).toBe(false);
    expect(await take(atOnce(path))).toEqual({ errno: ETIMEDOUT });
    waiter.process.stdin?.end();
    await once(waiter.process, "close");
    lockOf(await take(atOnce(path))).release();
  });

  test("refuses a link, a directory and a pipe, and makes no file", async () => {
    const link = newLock();
    symlinkSync(join(directory, "target"), link);
    const fifo = newLock();
    execFileSync("mkfifo", [fifo]);
    const folder = newLock();
    mkdirSync(folder);
    expect(await take(atOnce(link))).toEqual({ errno: 40 });
    expect(existsSync(join(directory, "target"))).toBe(false);
    expect(await take(atOnce("/nonexistent/lock"))).toEqual({ errno: ENOENT });
    expect(await take(atOnce(folder))).toEqual({ errno: 21 });
    expect(await take(atOnce(fifo))).toEqual({ errno: 22 });
    expect(readdirSync(join(link, ".."))).toEqual(["lock"]);
  });

  test("closes its descriptor after a timeout, an error and a release", async () => {
    const path = newLock();
    const held = lockOf(lockSync(atOnce(path)));
    const before = openDescriptors();
    await take({ path, deadlineMs: 20, shared: false });
    await take(atOnce("/nonexistent/lock"));
    held.release();
    lockOf(await take(atOnce(path))).release();
    expect(openDescriptors()).toBe(before - 1);
  });
});

test("A lock ends with the killed process that held it", async () => {
  const path = newLock();
  const holder = await start(path);
  expect(holder.errno).toBe(0);
  expect(isFree(path)).toBe(false);
  holder.process.kill("SIGKILL");
  await once(holder.process, "close");
  expect(isFree(path)).toBe(true);
});

test("A program that is started under the lock does not inherit it", async () => {
  const path = newLock();
  const lock = lockOf(lockSync(atOnce(path)));
  const child = spawn("sleep", ["30"], { stdio: "ignore" });
  lock.release();
  expect(isFree(path)).toBe(true);
  const again = lockOf(lockSync(atOnce(path)));
  const descriptors = `/proc/${child.pid}/fd`;
  expect(readdirSync(descriptors).map((fd) => readlinkSync(join(descriptors, fd)))).not.toContain(path);
  again.release();
  child.kill("SIGKILL");
});

test.each(["", "77"])("Sixteen processes that take one lock in turn never hold it together (byte %j)", async (byte) => {
  const path = newLock();
  const counter = join(directory, "counter");
  writeFileSync(counter, "0");
  const ended = await Promise.all(Array.from({ length: 16 }, () => start(path, "600000", "exclusive", byte, counter)));
  await Promise.all(ended.map(({ process }) => process.exitCode ?? once(process, "close")));
  expect(ended.map(({ errno }) => errno)).toEqual(Array.from({ length: 16 }, () => 0));
  expect(readFileSync(counter, "utf8")).toBe("16");
});

test("makesDirectory makes a missing directory, also after a holder removed it with the lock", async () => {
  const path = join(directory, "made", "below", "lock");
  expect(lockSync(atOnce(path))).toEqual({ errno: ENOENT });
  const lock = lockOf(lockSync({ ...atOnce(path), makesDirectory: true }));
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  const waiting = lockAsync({ path, deadlineMs: 600_000, shared: false, makesDirectory: true });
  rmSync(dirname(path), { recursive: true });
  lock.release();
  lockOf(await waiting).release();
  expect(existsSync(path)).toBe(true);
});

test("A signal ends an asynchronous wait", async () => {
  const path = newLock();
  const held = lockOf(lockSync(atOnce(path)));
  const waiting = lockAsync({ path, deadlineMs: 600_000, shared: false }, AbortSignal.timeout(30));
  await expect(waiting).rejects.toThrow("aborted");
  held.release();
  expect(isFree(path)).toBe(true);
});
