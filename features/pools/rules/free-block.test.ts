import { expect, test } from "vitest";
import { nextFreeStep } from "./free-block.ts";

const gone = { nodeExists: false, podsBound: 0 };
const unmarked = { isOrphaned: false, freeAfterSeconds: 60 };
const marked = { isOrphaned: true, freeAfterSeconds: 60 };

test.each([
  ["a block of a living node is kept", { block: unmarked, nodeExists: true, podsBound: 3, markedForMs: undefined }, "keep"],
  ["a block of a gone node with a bound pod is kept", { block: unmarked, ...gone, podsBound: 1, markedForMs: undefined }, "keep"],
  ["a block of a gone node without pods is marked first", { block: unmarked, ...gone, markedForMs: 99_000 }, "mark"],
  [
    "a mark that the controller sees for the first time begins the wait",
    { block: marked, ...gone, markedForMs: undefined },
    "wait",
  ],
  ["a marked block waits for freeAfterSeconds", { block: marked, ...gone, markedForMs: 59_999 }, "wait"],
  ["a block that was marked for long enough is deleted", { block: marked, ...gone, markedForMs: 60_000 }, "delete"],
  [
    "a node that came back gets its block again",
    { block: marked, nodeExists: true, podsBound: 0, markedForMs: 99_000 },
    "unmark",
  ],
  ["a pod that is bound to a gone node keeps the block", { block: marked, ...gone, podsBound: 1, markedForMs: 99_000 }, "unmark"],
] as const)("%s", (_, facts, step) => {
  expect(nextFreeStep(facts)).toBe(step);
});
