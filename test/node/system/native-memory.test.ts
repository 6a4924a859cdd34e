import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

const program = `
import { setTimeout } from "node:timers/promises";
import { limitArenas, trimMemory } from ${JSON.stringify(new URL("../../../host/system/libc/native-memory.ts", import.meta.url).href)};
const limited = limitArenas(2);
let held = Array.from({ length: 4000 }, () => Buffer.allocUnsafeSlow(40_000).fill(1));
// Used memory lies between free memory.
held = held.filter((_, index) => index % 50 === 0);
for (let round = 0; round < 5; round++) { globalThis.gc(); await setTimeout(20); }
const before = process.memoryUsage.rss();
const trimmed = trimMemory();
const after = process.memoryUsage.rss();
console.log(JSON.stringify({ limited, trimmed, returned: before - after, whole: held.every((each) => each.every((byte) => byte === 1)) }));
`;

const glibc = "glibcVersionRuntime" in (process.report.getReport() as { header: object }).header;

test.skipIf(!glibc)("returns free memory to the system and keeps used memory", () => {
  const args = ["--expose-gc", "--disable-warning=ExperimentalWarning", "--input-type=module", "-e", program];
  const result: unknown = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8", env: {} }));
  expect(result).toEqual({ limited: true, trimmed: true, returned: expect.any(Number), whole: true });
  // 157 MB were free.
  expect(Reflect.get(result as object, "returned")).toBeGreaterThan(50_000_000);
});
