// A resident program gives its heap back when it has nothing to do, and collects no garbage while it works.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../lab/compiled.ts";

/** Fills the heap with objects that end, waits as `wait` does, and prints the heap's bytes before and after. */
function heapOf(wait: string): { readonly before: number; readonly after: number } {
  const program = `
    import { getHeapStatistics } from "node:v8";
    import { giveHeapBackWhenQuiet } from ${JSON.stringify(join(root, "host/system/v8/heap-rest.ts"))};
    const heap = () => getHeapStatistics().total_heap_size;
    globalThis.kept = Array.from({ length: 400_000 }, (_, index) => ({ index, text: [index] }));
    globalThis.kept = globalThis.kept.filter(({ index }) => index % 100 === 0);
    const before = heap();
    giveHeapBackWhenQuiet(500);
    const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    ${wait}
    console.log(JSON.stringify({ before, after: heap() }));`;
  const args = ["--max-semi-space-size=4", "--no-memory-reducer", "--input-type=module", "-e", program];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as { readonly before: number; readonly after: number };
}

test("a quiet program gives the heap of ended objects back", () => {
  const { before, after } = heapOf("await pause(3_000);");
  expect(after).toBeLessThan(before / 2);
});

test("a program that works keeps its heap", () => {
  const { before, after } = heapOf(
    "for (const end = Date.now() + 3_000; Date.now() < end; await pause(1)) for (let n = 0; n < 1e6; n++);",
  );
  expect(after).toBeGreaterThan(before / 2);
});
