import { expect, test } from "vitest";
import { DryRun } from "./dry-run.ts";

test("X-2: a shadow that repeats its requests fills neither the daemon's memory nor its log", () => {
  const run = new DryRun(undefined);
  for (let request = 0; request < 5000; request++) {
    run.refuse("shadow", "leases.retain outside of ipam.dataDir");
    run.refuse("shadow", `links.apply with ${request}`);
    run.intend({ path: "/sysctl/a", intended: request, actual: 0 });
  }
  expect(run.unsupported.length).toBeLessThanOrEqual(10);
  expect([run.values.length, run.isCut]).toEqual([1000, true]);
});
