import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ComponentNames, nameOf } from "./component-names.ts";
import { systemClock } from "../system/clock.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-names-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Writes the file atomically. */
function write(name: string, text: string): void {
  writeFileSync(join(directory, `${name}.new`), text);
  renameSync(join(directory, `${name}.new`), join(directory, name));
}

test("a name learned for a file counts only if the file's identity would show every later change", () => {
  const names = new ComponentNames(systemClock);
  write("one.wasm", "1");
  const path = join(directory, "one.wasm");
  const found = (ageMs: number): { path: string; identity: string } => {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return { path, identity: `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs - BigInt(ageMs) * 1_000_000n}` };
  };
  const bytes = readFileSync(path);
  const fresh = found(0);
  expect(names.learn(fresh, bytes)).toBe(nameOf(bytes));
  expect(names.known(fresh)).toBe(undefined);
  const rested = found(60_000);
  expect(names.learn(rested, bytes)).toBe(nameOf(bytes));
  expect(names.known(rested)).toBe(nameOf(bytes));
  // Same size and modification time, as for files of an archive: only the time of change differs.
  copyFileSync(path, join(directory, "copy"));
  const { atime, mtime } = statSync(path);
  write("one.wasm", "2");
  utimesSync(path, atime, mtime);
  expect(names.known(found(60_000))).toBe(undefined);
});
