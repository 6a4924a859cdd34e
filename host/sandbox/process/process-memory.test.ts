import { expect, it } from "vitest";
import { memoryBounds } from "./memory-bounds.ts";
import { ProcessMemory, type WatchedProcess } from "./process-memory.ts";

const mebibyte = 1024 * 1024;

interface Process extends WatchedProcess {
  readonly pid: number;
  readonly mib: number;
}

/** A pool with these processes, whose pids are their places from 1 on. */
class Pool {
  readonly ended: string[] = [];
  kept: Process[];
  busy: Process[];

  constructor(kept: readonly number[], busy: readonly number[]) {
    const all = [...kept, ...busy].map((mib, index) => ({ pid: index + 1, mib, memoryPages: 256 }));
    this.kept = all.slice(0, kept.length);
    this.busy = all.slice(kept.length);
  }

  keptProcesses = () => this.kept;
  busyProcesses = () => this.busy;
  end = (process: Process, reason: string) => {
    this.ended.push(`${process.pid} ${reason}`);
    this.kept = this.kept.filter((each) => each !== process);
    this.busy = this.busy.filter((each) => each !== process);
  };
}

/** The pids that end in a container of so many MiB, in their order, with the reasons. */
function ended(containerMiB: number | undefined, pool: Pool): readonly string[] {
  const bounds = memoryBounds(containerMiB === undefined ? undefined : containerMiB * mebibyte);
  const memory = new ProcessMemory(bounds, (pid) => {
    const process = [...pool.kept, ...pool.busy].find((each) => each.pid === pid);
    return (process?.mib ?? 0) * mebibyte;
  });
  memory.watch(pool);
  memory.check();
  return pool.ended;
}

it("FI-03: idle processes end by their memory, the largest first, of equal ones the least recently used", () => {
  // 1 GiB: a quarter for the idle ones.
  expect(ended(1024, new Pool(Array<number>(16).fill(14), []))).toEqual([]);
  const pids = ended(1024, new Pool([14, 100, 380, 100, 14, 100], [])).map((each) => each.split(" ")[0]);
  expect(pids).toEqual(["3", "2"]);
  expect(ended(undefined, new Pool([380, 380], [])).map((each) => each.split(" ")[0])).toEqual(["1"]);
});

it("FI-03: a busy process ends beyond its own bound, and the largest one beyond the bound of all", () => {
  expect(ended(1024, new Pool([], [255, 20]))).toEqual([]);
  expect(ended(1024, new Pool([], [20, 300]))).toEqual(["2 was ended because it had 300 MiB of memory; a process may have 256"]);
  expect(ended(1024, new Pool([], [200, 250, 249]))).toEqual([
    "2 was ended because all together had 699 MiB of memory; they may have 640",
  ]);
  expect(ended(undefined, new Pool([], [1000, 1000]))).toEqual([]);
});

it("FI-03: idle processes end before busy ones", () => {
  const pool = new Pool([20, 30], [200, 200, 220]);
  expect(ended(1024, pool).map((each) => each.split(" ")[0])).toEqual(["2"]);
});

it("FI-03: a small container gives a process what an admitted component needs", () => {
  const { ofProcess } = memoryBounds(256 * mebibyte);
  expect(ofProcess(256).resident).toBe((128 + 32) * mebibyte);
  expect(memoryBounds(1024 * mebibyte).ofProcess(256)).toEqual({ resident: 256 * mebibyte, writable: 960 * mebibyte });
  expect(memoryBounds(undefined).ofProcess(256)).toEqual({ resident: 2048 * mebibyte, writable: 2048 * mebibyte });
  // A large container does not give more than a process without a container has.
  expect(memoryBounds(65_536 * mebibyte).ofProcess(256)).toEqual({ resident: 2048 * mebibyte, writable: 2048 * mebibyte });
});
