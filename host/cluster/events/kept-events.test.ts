import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { KeptEvents } from "./kept-events.ts";

let directory: string;
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), "plexus-events-"))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const lines: string[] = [];
const open = (path = "events.json"): KeptEvents => new KeptEvents(join(directory, path), (line) => void lines.push(line));

test("the Events of each API server are taken once, and those of the others stay for a later daemon", () => {
  const first = open();
  first.put("one", [{ reason: "A" }, { reason: "B" }]);
  first.put("other", [{ reason: "C" }]);
  const next = open();
  expect([next.take("one"), next.take("one"), next.take("third")]).toEqual([[{ reason: "A" }, { reason: "B" }], [], []]);
  next.put("one", [{ reason: "D" }]);
  const last = open();
  expect([last.take("other"), last.take("one")]).toEqual([[{ reason: "C" }], [{ reason: "D" }]]);
  expect(existsSync(join(directory, "events.json"))).toBe(false);
});

test.each(["", "{", "[]", '{"one":7}', '{"one":[7,null]}'])(
  "a damaged file has no Events, and the next daemon can keep its own: %s",
  (text) => {
    writeFileSync(join(directory, "events.json"), text);
    expect(open().take("one")).toEqual([]);
    open().put("one", [{ reason: "A" }]);
    expect(open().take("one")).toEqual([{ reason: "A" }]);
  },
);

test("a file that cannot be written is a line of the log, and no failure of the daemon's end", () => {
  writeFileSync(join(directory, "file"), "");
  open("file/events.json").put("one", [{ reason: "A" }]);
  expect(lines).toEqual([expect.stringContaining("Events that wait for the API server are lost: ")]);
});
