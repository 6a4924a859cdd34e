import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { callWith, type BrainSide } from "./testing/scripted-brain.ts";
import { isRunning, openWorkshop, soon, type Workshop } from "./testing/workshop.ts";

let shop: Workshop;
let made = 0;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.dispose());

const ETIMEDOUT = 110;

/** The path of a lock in a directory of its own. */
function newLock(): string {
  made += 1;
  const directory = join(shop.directory, `leases-${made}`);
  mkdirSync(directory);
  return join(directory, "lock");
}

function run(script: (brain: BrainSide) => Promise<void>): Promise<unknown> {
  return callWith(script, { hands: shop.hands, env: { CNI_PATH: shop.cniPath } });
}

/** Whether flock(1) can have it now. */
function isFree(path: string, ...options: readonly string[]): boolean {
  return spawnSync("flock", ["-n", ...options, path, "true"]).status === 0;
}

/** Children of a process. */
function children(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .trim()
    .split(" ")
    .filter((word) => word !== "")
    .map(Number);
}

describe("LOCK", () => {
  test("excludes flock(1) until UNLOCK, and makes the file for its owner alone", async () => {
    const path = newLock();
    await run(async (brain) => {
      const channel = brain.newChannel();
      expect(await brain.lock(path, 1000, { channel })).toMatchObject({ errno: 0 });
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(isFree(path)).toBe(false);
      brain.unlock(channel);
      expect(await soon(() => isFree(path))).toBe(true);
    });
  });

  test("is waited for beside everything else, and had as soon as the holder lets go", async () => {
    const path = newLock();
    const holder = spawn("flock", [path, "sh", "-c", "echo held; read line"], { stdio: ["pipe", "pipe", "ignore"] });
    await new Promise((resolve) => holder.stdout.once("data", resolve));
    shop.script("quick", "echo quick");
    await run(async (brain) => {
      let held = false;
      const lock = brain.lock(path, 10_000).then((answer) => ((held = true), answer));
      expect((await brain.exec({ type: "quick" })).outcome).toEqual({ kind: "exited", status: 0 });
      expect(held).toBe(false);
      const asked = performance.now();
      holder.stdin.end("\n");
      expect(await lock).toMatchObject({ errno: 0 });
      expect(performance.now() - asked).toBeLessThan(500);
      expect(isFree(path)).toBe(false);
      expect(children(brain.hands.pid)).toEqual([]);
    });
    expect(isFree(path)).toBe(true);
  });

  test("is given up at its deadline; a deadline of zero tries once", async () => {
    const path = newLock();
    await run(async (holder) => {
      expect(await holder.lock(path, 0)).toMatchObject({ errno: 0 });
      await run(async (brain) => {
        const started = performance.now();
        expect(await brain.lock(path, 0)).toMatchObject({ errno: ETIMEDOUT });
        expect(performance.now() - started).toBeLessThan(100);
        expect(await brain.lock(path, 300)).toMatchObject({ errno: ETIMEDOUT });
        expect(performance.now() - started).toBeGreaterThanOrEqual(300);
        expect(children(brain.hands.pid)).toEqual([]);
      });
    });
  });

  test("ends with the hands, however they end, also for who waits", async () => {
    const path = newLock();
    let waiters: readonly number[] = [];
    await run(async (outer) => {
      expect(await outer.lock(path, 0)).toMatchObject({ errno: 0 });
      await run(async (brain) => {
        void brain.lock(path, 60_000).catch(() => undefined);
        expect(await soon(() => children(brain.hands.pid).length === 1)).toBe(true);
        waiters = children(brain.hands.pid);
        brain.hands.process.kill("SIGKILL");
        await brain.hands.answer;
      });
      expect(await soon(() => waiters.every((pid) => !isRunning(pid)))).toBe(true);
      outer.hands.process.kill("SIGKILL");
      await outer.hands.answer;
    });
    expect(isFree(path)).toBe(true);
  });

  test("shared ones stand side by side and keep an exclusive one out", async () => {
    const path = newLock();
    await run(async (one) => {
      expect(await one.lock(path, 0, { shared: true })).toMatchObject({ errno: 0 });
      await run(async (other) => {
        expect(await other.lock(path, 0, { shared: true })).toMatchObject({ errno: 0 });
        expect(await other.lock(path, 0)).toMatchObject({ errno: ETIMEDOUT });
      });
      expect(isFree(path, "-s")).toBe(true);
    });
  });

  test("of a file that its holder removed is taken on the file that has the name now", async () => {
    const path = newLock();
    await run(async (holder) => {
      const channel = holder.newChannel();
      expect(await holder.lock(path, 0, { channel })).toMatchObject({ errno: 0 });
      await run(async (brain) => {
        const lock = brain.lock(path, 10_000);
        expect(await soon(() => children(brain.hands.pid).length === 1)).toBe(true);
        rmSync(path);
        holder.unlock(channel);
        expect(await lock).toMatchObject({ errno: 0 });
        expect(existsSync(path)).toBe(true);
        expect(isFree(path)).toBe(false);
      });
    });
  });

  test("of the same path on two channels of one call excludes itself; UNLOCK passes it on", async () => {
    const path = newLock();
    await run(async (brain) => {
      const [first, second] = [brain.newChannel(), brain.newChannel()];
      expect(await brain.lock(path, 0, { channel: first })).toMatchObject({ errno: 0 });
      const waiting = brain.lock(path, 10_000, { channel: second });
      brain.unlock(first);
      expect(await waiting).toMatchObject({ errno: 0 });
    });
  });

  test("UNLOCK of one still waited for cancels it, and of none does nothing", async () => {
    const path = newLock();
    await run(async (holder) => {
      await holder.lock(path, 0);
      await run(async (brain) => {
        const channel = brain.newChannel();
        void brain.lock(path, 60_000, { channel });
        expect(await soon(() => children(brain.hands.pid).length === 1)).toBe(true);
        brain.unlock(channel);
        brain.unlock(brain.newChannel());
        expect(await soon(() => children(brain.hands.pid).length === 0)).toBe(true);
      });
    });
  });

  test("sixteen hands that take one lock in turn never hold it together", async () => {
    const path = newLock();
    const counter = join(shop.directory, "counter");
    writeFileSync(counter, "0");
    await Promise.all(
      Array.from({ length: 16 }, () =>
        run(async (brain) => {
          const channel = brain.newChannel();
          expect(await brain.lock(path, 20_000, { channel })).toMatchObject({ errno: 0 });
          const before = Number(readFileSync(counter, "utf8"));
          await new Promise((resolve) => setTimeout(resolve, 5));
          writeFileSync(counter, String(before + 1));
          brain.unlock(channel);
        }),
      ),
    );
    expect(readFileSync(counter, "utf8")).toBe("16");
  });

  test("only a plain file called `lock` at an absolute path can be one", async () => {
    const path = newLock();
    const directory = join(path, "..");
    symlinkSync(join(shop.directory, "target"), path);
    const fifo = newLock();
    execFileSync("mkfifo", [fifo]);
    const folder = newLock();
    mkdirSync(folder);
    await run(async (brain) => {
      expect(await brain.lock(path, 0)).toMatchObject({ errno: 40 });
      expect(existsSync(join(shop.directory, "target"))).toBe(false);
      expect(await brain.lock(join(directory, "other"), 0)).toMatchObject({ errno: 22 });
      expect(await brain.lock(join(directory, "unlock"), 0)).toMatchObject({ errno: 22 });
      expect(await brain.lock("lock", 0)).toMatchObject({ errno: 22 });
      expect(await brain.lock("", 0)).toMatchObject({ errno: 22 });
      expect(await brain.lock("/nonexistent/lock", 0)).toMatchObject({ errno: 2 });
      expect((await brain.lock(folder, 0)).errno).not.toBe(0);
      expect((await brain.lock(fifo, 0)).errno).not.toBe(0);
    });
    expect(readdirSync(directory)).toEqual(["lock"]);
    chmodSync(directory, 0o700);
  });
});
