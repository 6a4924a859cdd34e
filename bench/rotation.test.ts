import { expect, test } from "vitest";
import type { Contender } from "./contender.ts";
import { ContenderFailures } from "./failures.ts";
import type { LaneCall, PodNamespaces } from "./lanes.ts";
import { inRotation } from "./rotation.ts";

const call = (program: string): LaneCall => ({ program, env: {}, stdin: "" });
const namespaces: PodNamespaces = { count: 1, path: () => "", links: () => [], dispose: () => undefined };

/** A contender whose ADD fails from the turn `failsFrom` on. */
function contender(name: string, failsFrom = Infinity): Contender {
  let adds = 0;
  return {
    name,
    add: () => [call(adds++ < failsFrom ? "/bin/true" : "/bin/false")],
    del: () => [call("/bin/true")],
    left: () => [],
    dispose: () => undefined,
  };
}

test("a contender that fails loses its own rows, the others keep theirs", async () => {
  const failures = new ContenderFailures();
  const contenders = { good: contender("good"), bad: contender("bad", 2) };
  const taken = await inRotation({
    contenders,
    namespaces,
    links: 0,
    warmUp: 1,
    turns: 4,
    onFailure: (name, error) => failures.add("pod0", name, error),
  });
  expect(taken.get("good")?.add).toHaveLength(4);
  expect(taken.get("good")?.del).toHaveLength(4);
  expect(taken.get("bad")?.add).toHaveLength(1);
  expect(() => failures.throwAny("pod0", "good")).not.toThrow();
  expect(() => failures.throwAny("pod0", "good", "bad")).toThrow("bad ADD: 1 of 1 calls failed, the first with status 1");
  expect(failures.has("crowd", "bad")).toBe(false);
});

test("without onFailure the first failure ends the rotation", async () => {
  const contenders = { good: contender("good"), bad: contender("bad", 2) };
  await expect(inRotation({ contenders, namespaces, links: 0, warmUp: 1, turns: 4 })).rejects.toThrow(
    "bad ADD: 1 of 1 calls failed",
  );
});
