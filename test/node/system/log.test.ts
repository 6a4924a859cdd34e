import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openLog } from "../../../host/telemetry/log.ts";
import { systemClock } from "../../../host/system/clock.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-log-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Bounds that the reader of a busy machine keeps. */
const patient = { stallMs: 100_000, totalMs: 100_000 };

/** A program that logs to stderr like the daemon. `settings`: further settings of its log. */
function program(body: string, settings: object = {}): string {
  return `
    import { openLog } from ${JSON.stringify(resolve("host/telemetry/log.ts"))};
    import { systemClock } from ${JSON.stringify(resolve("host/system/clock.ts"))};
    const log = openLog({ level: "info", fd: 2, clock: systemClock, dropped: () => undefined, ...${JSON.stringify(settings)} });
    process.on("exit", () => log.flush());
    for (let line = 0; line < 2000; line++) log.write("info", { request: String(line) }, "x".repeat(300));
    ${body}`;
}

const requestsOf = (text: string): readonly number[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line): Readonly<Record<string, unknown>> => JSON.parse(line))
    .map(({ request }) => Number(request))
    .toSorted((left, right) => left - right);
const all = Array.from({ length: 2000 }, (_, index) => index);

describe.each([
  ["an exit", "process.exit(7);"],
  ["an uncaught error", 'setImmediate(() => { throw new Error("broken"); });'],
])("at %s", (_, body) => {
  const run = (stderr: number | "pipe") =>
    spawnSync(process.execPath, ["--input-type=module", "-e", program(body, { flushBounds: patient })], {
      stdio: ["ignore", "ignore", stderr],
    });

  test("no line is lost to a file", () => {
    const path = join(directory, "log");
    const file = openSync(path, "w");
    run(file);
    closeSync(file);
    expect(requestsOf(readFileSync(path, "utf8"))).toEqual(all);
  });

  test("no line is lost to a pipe that is read", () => {
    expect(requestsOf(run("pipe").stderr.toString())).toEqual(all);
  });
});

test("an unread log blocks neither the daemon nor its end, and dropped lines are counted", async () => {
  const path = join(directory, "pipe");
  expect(spawnSync("mkfifo", [path]).status).toBe(0);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  let lost = 0;
  const log = openLog({ level: "info", fd, clock: systemClock, dropped: () => (lost += 1) });
  for (let line = 0; line < 20_000; line++) log.write("info", {}, "y".repeat(200));
  expect(lost).toBeGreaterThan(10_000);
  log.flush();
  // After a read, new lines arrive.
  const chunk = Buffer.alloc(65_536);
  let text = "";
  await expect
    .poll(
      () => {
        log.write("info", {}, "again");
        try {
          text = text.slice(-1000) + chunk.toString("utf8", 0, readSync(fd, chunk));
        } catch {
          // The pipe is empty now.
        }
        return text.includes("again");
      },
      { interval: 5 },
    )
    .toBe(true);
});

test("ends in time although the pipe is not read", async () => {
  const body = 'log.write("info", {}, "z".repeat(300_000)); setTimeout(() => process.exit(7), 1500);';
  const child = spawn(process.execPath, ["--input-type=module", "-e", program(body)], { stdio: ["ignore", "ignore", "pipe"] });
  // Without a reader the pipe fills.
  child.stderr.pause();
  const [status] = await once(child, "exit");
  expect(status).toBe(7);
});
