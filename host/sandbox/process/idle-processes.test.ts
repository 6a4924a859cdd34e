import { expect, it, afterEach, beforeEach, test, vi } from "vitest";
import { IdleProcesses, mayServe, type ProcessOwner, ownerAfter, RestingProcesses } from "./idle-processes.ts";

const owner = (component: string, source?: string): ProcessOwner => ({ component, source });
const process = (name: string, of?: ProcessOwner) => ({ name, owner: of });

it("an owner gets its most recently used process, else one without an owner, never another owner's", () => {
  const idle = new IdleProcesses<ReturnType<typeof process>>(8);
  for (const each of [
    process("free"),
    process("a1", owner("a", "")),
    process("b", owner("b", "")),
    process("a2", owner("a", "")),
  ])
    expect(idle.add(each)).toBeUndefined();
  expect(idle).toMatchObject({ size: 4, unownedCount: 1, hasDuplicates: true });
  expect(idle.take(owner("a", ""))?.name).toBe("a2");
  expect(idle.take(owner("a", ""))?.name).toBe("a1");
  expect(idle.take(owner("a", ""))?.name).toBe("free");
  expect(idle.take(owner("a", ""))).toBeUndefined();
  expect(idle.take(owner("b", "shop"))).toBeUndefined();
  expect(idle.take(owner("b", ""))?.name).toBe("b");
  expect(idle.size).toBe(0);
});

it("keeps a bounded number, and gives up the least recently used one and an owner's second one", () => {
  const idle = new IdleProcesses<ReturnType<typeof process>>(2);
  const [a, b] = [process("a", owner("a", "")), process("b", owner("b", ""))];
  idle.add(a);
  idle.add(b);
  expect(idle.add(process("c", owner("c", "")))?.name).toBe("a");
  expect(idle.remove(a)).toBe(false);
  expect(idle.remove(b)).toBe(true);
  expect(idle.takeDuplicate()).toBeUndefined();
  idle.add(process("c2", owner("c", "")));
  expect(idle.takeDuplicate()?.name).toBe("c");
  expect(idle.hasDuplicates).toBe(false);
  idle.add(process("free"));
  expect(idle.takeUnowned()?.name).toBe("free");
  expect(idle.takeUnowned()).toBeUndefined();
});

it("a process that has only examined its component takes a source with its first call, and then no admission", () => {
  const examined = ownerAfter(undefined, owner("a"));
  expect(examined).toEqual(owner("a"));
  expect([owner("a", "x"), owner("a"), owner("b", "x")].map((wanted) => mayServe(examined, wanted))).toEqual([true, true, false]);
  const used = ownerAfter(examined, owner("a", "x"));
  expect(used).toEqual(owner("a", "x"));
  expect([owner("a", "x"), owner("a", "y"), owner("a"), owner("b", "x")].map((wanted) => mayServe(used, wanted))).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

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
    (asking) => {
      asked.push(asking.pid);
      asking.mib = 11;
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
