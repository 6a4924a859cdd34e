import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

const program = `
import { setTimeout } from "node:timers/promises";
import { boundHeapGrowth } from ${JSON.stringify(new URL("../../../host/system/v8/heap-growth.ts", import.meta.url).href)};
boundHeapGrowth();
const live = Array.from({ length: 200_000 }, (_, index) => ({ index, text: [index, index] }));
const passing = [];
let highest = 0;
for (let round = 0; round < 400; round++) {
  // The objects live long enough to leave the young generation.
  for (let made = 0; made < 2000; made++) passing[(round * 2000 + made) % 60_000] = Array.from({ length: 10 }, (_, k) => ({ k }));
  highest = Math.max(highest, process.memoryUsage().heapTotal);
  await setTimeout(1);
}
console.log(JSON.stringify({ highest, held: live.length + passing.length }));
`;

test("bounds the heap of a program with some 50 MiB of live objects and much garbage", () => {
  const args = ["--max-semi-space-size=4", "--input-type=module", "-e", program];
  const result: unknown = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8", env: {} }));
  expect(result).toEqual({ highest: expect.any(Number), held: 260_000 });
  // Measured: 218 to 222 MiB without the bound, 89 to 98 MiB with it.
  expect(Reflect.get(result as object, "highest")).toBeLessThan(140 * 1024 * 1024);
});
