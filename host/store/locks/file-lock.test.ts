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
import { ENOENT, ETIMEDOUT, type FileLock, lockAsync, type LockAnswer, type LockRequest, lockSync } from "./file-lock.ts";

const fixture = fileURLToPath(new URL("fixtures/holder.ts", import.meta.url));

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

/** The path of a lock in a directory of its own. */
function newLock(): string {
  made += 1;
  const own = join(directory, String(made));
  mkdirSync(own);
  return join(own, "lock");
}

/** Whether flock(1) can have it now. */
function isFree(path: string, ...options: readonly string[]): boolean {
  return spawnSync("flock", ["-n", ...options, path, "true"]).status === 0;
}

function got({ errno, lock }: LockAnswer): FileLock {
  expect(errno).toBe(0);
  if (lock === undefined) throw new Error("no lock");
  return lock;
}

/** Starts a process that takes the lock; resolves with it when it has said what came of it. */
async function start(...args: readonly string[]): Promise<{ readonly errno: number; readonly process: ChildProcess }> {
  const holder = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", fixture, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  holders.push(holder);
  const [said] = await once(holder.stdout, "data");
  return { errno: Number(said), process: holder };
}

function atOnce(path: string): LockRequest {
  return { path, deadlineMs: 0, shared: false };
}

function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

function giveUp(): never {
  throw new Error("nobody wants it any more");
}

type Take = (request: LockRequest) => Promise<LockAnswer>;
const forms: readonly (readonly [string, Take])[] = [
  ["lockSync", async (request) => lockSync(request)],
  ["lockAsync", (request) => lockAsync(request)],
];

describe.each(forms)("%s", (_, take) => {
  test("excludes flock(1) until it is released, and makes the file for its owner alone", async () => {
    const path = newLock();
    const lock = got(await take({ path, deadlineMs: 1000, shared: false }));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(isFree(path)).toBe(false);
    lock.release();
    expect(isFree(path)).toBe(true);
  });

  test("waits for who holds it, as native host-local does, and has it soon after that", async () => {
    const path = newLock();
    const holder = spawn("flock", [path, "sh", "-c", "echo held; sleep 0.3"], { stdio: ["ignore", "pipe", "inherit"] });
    await once(holder.stdout, "data");
    const asked = performance.now();
    const lock = got(await take({ path, deadlineMs: 20_000, shared: false }));
    expect(performance.now() - asked).toBeGreaterThan(200);
    expect(isFree(path)).toBe(false);
    lock.release();
  });

  test("gives up at its deadline; a deadline of zero tries once", async () => {
    const path = newLock();
    const held = got(lockSync(atOnce(path)));
    const started = performance.now();
    expect(await take(atOnce(path))).toEqual({ errno: ETIMEDOUT });
    const tried = performance.now();
    expect(await take({ path, deadlineMs: 300, shared: false })).toEqual({ errno: ETIMEDOUT });
    expect(performance.now() - started).toBeGreaterThanOrEqual(300);
    expect(tried - started).toBeLessThan(300);
    held.release();
    got(await take(atOnce(path))).release();
  });

  test("lets shared ones stand side by side and keep an exclusive one out", async () => {
    const path = newLock();
    const one = got(await take({ path, deadlineMs: 0, shared: true }));
    const other = got(await take({ path, deadlineMs: 0, shared: true }));
    expect(isFree(path, "-s")).toBe(true);
    one.release();
    expect(await take(atOnce(path))).toEqual({ errno: ETIMEDOUT });
    other.release();
    got(await take(atOnce(path))).release();
  });

  test("takes one byte of a file: others of it, and the whole file, are others' matter", async () => {
    const path = newLock();
    const [low, high] = [0, Number.MAX_SAFE_INTEGER];
    const held = got(await take({ ...atOnce(path), byte: high }));
    expect(await take({ ...atOnce(path), byte: high })).toEqual({ errno: ETIMEDOUT });
    expect(await take({ ...atOnce(path), byte: high, shared: true })).toEqual({ errno: ETIMEDOUT });
    const shared = [got(await take({ ...atOnce(path), byte: low, shared: true }))];
    shared.push(got(await take({ ...atOnce(path), byte: low, shared: true })));
    expect(await take({ ...atOnce(path), byte: low })).toEqual({ errno: ETIMEDOUT });
    const other = await start(path, "0", "exclusive", String(high));
    expect(other.errno).toBe(ETIMEDOUT);
    expect(isFree(path)).toBe(true);
    for (const { release } of [held, ...shared]) release();
    const theirs = await start(path, "0", "exclusive", String(high));
    expect(theirs.errno).toBe(0);
    expect(await take({ ...atOnce(path), byte: high })).toEqual({ errno: ETIMEDOUT });
    got(await take({ ...atOnce(path), byte: low })).release();
    theirs.process.kill("SIGKILL");
    await once(theirs.process, "close");
    got(await take({ ...atOnce(path), byte: high })).release();
    expect(statSync(path)).toMatchObject({ size: 0 });
  });

  test("takes the file that has the name now where its holder removed the one that was waited for", async () => {
    const path = newLock();
    const holder = await start(path);
    expect(holder.errno).toBe(0);
    setTimeout(() => {
      rmSync(path);
      holder.process.stdin?.end();
    }, 50);
    // In a process of its own: a wait that blocks would keep the timer above from going off.
    const waiter = await start(path, "20000");
    expect(waiter.errno).toBe(0);
    expect(existsSync(path)).toBe(true);
    expect(isFree(path)).toBe(false);
    expect(await take(atOnce(path))).toEqual({ errno: ETIMEDOUT });
    waiter.process.stdin?.end();
    await once(waiter.process, "close");
    got(await take(atOnce(path))).release();
  });

  test("refuses what is no plain file, and makes nothing beside it", async () => {
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

  test("leaves no descriptor behind, whatever came of it", async () => {
    const path = newLock();
    const held = got(lockSync(atOnce(path)));
    const before = openDescriptors();
    await take({ path, deadlineMs: 20, shared: false });
    await take(atOnce("/nonexistent/lock"));
    held.release();
    got(await take(atOnce(path))).release();
    expect(openDescriptors()).toBe(before - 1);
  });
});

test("A lock ends with the process that holds it, however that ends", async () => {
  const path = newLock();
  const holder = await start(path);
  expect(holder.errno).toBe(0);
  expect(isFree(path)).toBe(false);
  holder.process.kill("SIGKILL");
  await once(holder.process, "close");
  expect(isFree(path)).toBe(true);
});

test("Programs that are started meanwhile do not hold it", async () => {
  const path = newLock();
  const lock = got(lockSync(atOnce(path)));
  const daemon = spawn("sleep", ["30"], { stdio: "ignore" });
  lock.release();
  expect(isFree(path)).toBe(true);
  const again = got(lockSync(atOnce(path)));
  const theirs = `/proc/${daemon.pid}/fd`;
  expect(readdirSync(theirs).map((fd) => readlinkSync(join(theirs, fd)))).not.toContain(path);
  again.release();
  daemon.kill("SIGKILL");
});

test.each(["", "77"])("Sixteen processes that take one lock in turn never hold it together (byte %j)", async (byte) => {
  const path = newLock();
  const counter = join(directory, "counter");
  writeFileSync(counter, "0");
  const ended = await Promise.all(Array.from({ length: 16 }, () => start(path, "20000", "exclusive", byte, counter)));
  await Promise.all(ended.map(({ process }) => process.exitCode ?? once(process, "close")));
  expect(ended.map(({ errno }) => errno)).toEqual(Array.from({ length: 16 }, () => 0));
  expect(readFileSync(counter, "utf8")).toBe("16");
});

test("What is thrown before another try ends a blocking wait", () => {
  const path = newLock();
  const held = got(lockSync(atOnce(path)));
  expect(() => lockSync({ path, deadlineMs: 60_000, shared: false }, giveUp)).toThrow("nobody wants it any more");
  held.release();
});

test("A missing directory is made where that is wanted, as often as a holder removes it with the lock", async () => {
  const path = join(directory, "made", "below", "lock");
  expect(lockSync(atOnce(path))).toEqual({ errno: ENOENT });
  const lock = got(lockSync({ ...atOnce(path), makesDirectory: true }));
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  const waiting = lockAsync({ path, deadlineMs: 20_000, shared: false, makesDirectory: true });
  rmSync(dirname(path), { recursive: true });
  lock.release();
  got(await waiting).release();
  expect(existsSync(path)).toBe(true);
});

test("A signal ends an asynchronous wait", async () => {
  const path = newLock();
  const held = got(lockSync(atOnce(path)));
  const waiting = lockAsync({ path, deadlineMs: 60_000, shared: false }, AbortSignal.timeout(30));
  await expect(waiting).rejects.toThrow("aborted");
  held.release();
  expect(isFree(path)).toBe(true);
});
