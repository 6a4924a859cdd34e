import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

const program = `
import { setTimeout } from "node:timers/promises";
import { limitArenas, trimMemory } from ${JSON.stringify(new URL("./native-memory.ts", import.meta.url).href)};
const limited = limitArenas(2);
let held = Array.from({ length: 4000 }, () => Buffer.allocUnsafeSlow(40_000).fill(1));
// What is still used lies between what is free.
held = held.filter((_, index) => index % 50 === 0);
for (let round = 0; round < 5; round++) { globalThis.gc(); await setTimeout(20); }
const before = process.memoryUsage.rss();
const trimmed = trimMemory();
const after = process.memoryUsage.rss();
console.log(JSON.stringify({ limited, trimmed, given: before - after, whole: held.every((each) => each.every((byte) => byte === 1)) }));
`;

const glibc = "glibcVersionRuntime" in (process.report.getReport() as { header: object }).header;

test.skipIf(!glibc)("what is free goes back to the system, and what is used stays", () => {
  const args = ["--expose-gc", "--disable-warning=ExperimentalWarning", "--input-type=module", "-e", program];
  const told: unknown = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8", env: {} }));
  expect(told).toEqual({ limited: true, trimmed: true, given: expect.any(Number), whole: true });
  // Of 157 MB that were free.
  expect(Reflect.get(told as object, "given")).toBeGreaterThan(50_000_000);
});
