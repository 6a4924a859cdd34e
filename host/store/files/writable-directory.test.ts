import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writableDirectory } from "./writable-directory.ts";

const isNobody = (): boolean => false;
let place = "";
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "plexus-writable-"));
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** A directory of this mode, in a directory of the other mode; answers a file's path in it. */
function fileIn(mode: number, above = 0o755): string {
  const parent = mkdtempSync(join(place, "above-"));
  mkdirSync(join(parent, "here"));
  chmodSync(join(parent, "here"), mode);
  chmodSync(parent, above);
  return join(parent, "here", "socket");
}

test.each([
  [0o700, 0o700],
  [0o755, 0o755],
  [0o775, 0o755],
  [0o711, 0o1777],
])("a file in a directory of mode %o in one of mode %o is safe", (mode, above) => {
  expect(writableDirectory(fileIn(mode, above), isNobody)).toBeUndefined();
});

test.each([
  [0o777, 0o755],
  [0o1777, 0o755],
  [0o755, 0o777],
])("a file in a directory of mode %o in one of mode %o can be replaced by every user", (mode, above) => {
  expect(writableDirectory(fileIn(mode, above), isNobody)).toContain("every user may write to it");
});

test("a directory that a sandbox process' uid or gid may write to is found", () => {
  const own = process.getuid?.() ?? 0;
  expect(writableDirectory(fileIn(0o700), (id) => id === own)).toContain(`its owner is uid ${own}`);
});

test("a directory that does not exist yet is passed over", () => {
  expect(writableDirectory(join(place, "none", "deeper", "socket"), isNobody)).toBeUndefined();
});
