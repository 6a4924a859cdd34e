import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { availableParallelism, tmpdir } from "node:os";
import { expect, test } from "vitest";
import { compileApart } from "./compile-apart.ts";

test("compilations share as many threads as the machine has processors, and each gets its own messages", async () => {
  let threads = 0;
  const count = (): void => void (threads += 1);
  subscribe("worker_threads", count);
  const names = Array.from({ length: availableParallelism() + 2 }, (_, index) => `unknown${index}`);
  const outcomes = await Promise.allSettled(
    names.map((name) =>
      compileApart({
        dir: tmpdir(),
        entry: "main.ts",
        virtual: new Map([["main.ts", `export const a: ${name} = 1;`]]),
        options: [],
      }),
    ),
  );
  unsubscribe("worker_threads", count);
  expect(threads).toBeLessThanOrEqual(availableParallelism());
  expect(
    outcomes.map((outcome) => (outcome.status === "rejected" ? /unknown\d+/u.exec(String(outcome.reason))?.[0] : "")),
  ).toEqual(names);
});
