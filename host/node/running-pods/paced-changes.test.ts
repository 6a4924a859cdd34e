import { afterEach, expect, test, vi } from "vitest";
import { ChangePace } from "../../cluster/work/change-pace.ts";
import { PacedChanges } from "./paced-changes.ts";

afterEach(() => void vi.useRealTimers());

test("PO-24 SV-14: 200 changes of a namespace in a second cause 7 looks, and one of another namespace is not late for them", async () => {
  vi.useFakeTimers({ now: 0 });
  const seen: string[] = [];
  const pace = new ChangePace(() => Date.now(), 2, 200);
  const changes = new PacedChanges<string>(
    (change) => pace.pauseMs(change, 50),
    (due) => void seen.push(`${Math.round(Date.now() / 50) * 50} ${[...due].toSorted().join(",")}`),
  );
  for (let index = 0; index < 200; index++) {
    changes.add("busy");
    if (index === 100) for (const other of ["x", "y"]) changes.add(other);
    await vi.advanceTimersByTimeAsync(5);
  }
  await vi.advanceTimersByTimeAsync(1000);
  expect(seen.filter((each) => each.endsWith("busy")).length).toBeLessThanOrEqual(7);
  expect(seen).toContain("550 x,y");
  changes.add("busy");
  changes.stop();
  const before = seen.length;
  await vi.advanceTimersByTimeAsync(1000);
  expect(seen.length).toBe(before);
});
