import { expect, it } from "vitest";
import { IdleProcesses, mayServe, type ProcessOwner, ownerAfter } from "./idle-processes.ts";

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
