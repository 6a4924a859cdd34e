// The clocks that a test moves are the ones that a daemon reads. A daemon whose clocks stay would let each test of pauses and waits pass.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { root } from "../../lab/compiled.ts";

const hourMs = 3_600_000;

test("the system's clock, Date and the monotonic clocks of a process move by the file's offsets", () => {
  const directory = mkdtempSync(join(tmpdir(), "plexus-clocks-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const clocks = join(directory, "clocks");
  writeFileSync(clocks, "0 0");
  const program = `
    const { systemClock } = await import(${JSON.stringify(join(root, "host/system/clock.ts"))});
    const { writeFileSync } = await import("node:fs");
    const read = () => [systemClock.now(), performance.now(), Number(process.hrtime.bigint()) / 1e6, systemClock.date().getTime(), Date.now(), +new Date()];
    const before = read();
    writeFileSync(process.env.CLOCKS, "${hourMs} ${-hourMs}");
    const after = read();
    const [seconds] = process.hrtime(process.hrtime());
    console.log(JSON.stringify({ moved: after.map((each, index) => each - before[index]), seconds, fixed: new Date(5).getTime(), isDate: new Date() instanceof Date }));
  `;
  const output = execFileSync(
    process.execPath,
    ["--import", join(root, "test/lab/moved-clocks.ts"), "--input-type=module", "--eval", program],
    { encoding: "utf8", env: { ...process.env, CLOCKS: clocks } },
  );
  const found = JSON.parse(output) as { moved: readonly number[]; seconds: number; fixed: number; isDate: boolean };
  // The process itself takes far less than half an hour between both reads.
  expect(found.moved.map((each) => Math.round(each / hourMs))).toEqual([1, 1, 1, -1, -1, -1]);
  expect(found).toMatchObject({ seconds: 0, fixed: 5, isDate: true });
});
