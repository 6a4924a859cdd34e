import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RestingProcesses } from "./resting-processes.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const mebibyte = 1024 * 1024;

interface Process {
  readonly pid: number;
  mib: number;
}

/** Two idle processes, which have 11 MiB after a collection; `asked` has the pids that were asked, in order. */
function pool(): { readonly processes: Process[]; readonly asked: number[]; readonly resting: RestingProcesses<Process> } {
  const processes: Process[] = [
    { pid: 1, mib: 17 },
    { pid: 2, mib: 24 },
  ];
  const asked: number[] = [];
  const resting = new RestingProcesses<Process>(
    () => processes,
    (process) => {
      asked.push(process.pid);
      process.mib = 11;
    },
    (pid) => (processes.find((each) => each.pid === pid)?.mib ?? 0) * mebibyte,
  );
  return { processes, asked, resting };
}

test("idle processes give memory back half a minute after the last call, and not between calls", () => {
  const { asked, resting } = pool();
  for (let call = 0; call < 5; call++) {
    resting.changed();
    vi.advanceTimersByTime(29_999);
  }
  expect(asked).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(asked).toEqual([1, 2]);
  vi.advanceTimersByTime(600_000);
  expect(asked).toEqual([1, 2]);
});

test("a process is asked again only after it has grown by 4 MiB", () => {
  const { processes, asked, resting } = pool();
  resting.changed();
  vi.advanceTimersByTime(40_000);
  asked.length = 0;
  const [first] = processes;
  for (const mib of [12, 15, 16]) {
    if (first !== undefined) first.mib = mib;
    resting.changed();
    vi.advanceTimersByTime(40_000);
  }
  expect(asked).toEqual([1]);
});

test("no process is asked after the end of its pool", () => {
  const { asked, resting } = pool();
  resting.changed();
  resting.stop();
  vi.advanceTimersByTime(60_000);
  expect(asked).toEqual([]);
});
