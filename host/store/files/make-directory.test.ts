import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeDirectory } from "./make-directory.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-make-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

test("makes missing directories, each with the mode, and answers whether the last one is new", () => {
  const path = join(directory, "a", "b", "c");
  expect(makeDirectory(path)).toBe(true);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(statSync(join(directory, "a")).mode & 0o777).toBe(0o700);
  expect(makeDirectory(path)).toBe(false);
  expect(makeDirectory("/")).toBe(false);
  mkdirSync(join(directory, "real"));
  symlinkSync("real", join(directory, "link"));
  expect(makeDirectory(join(directory, "link"))).toBe(false);
});

test("an administrator's umask closes no directory that is for others, too", () => {
  const before = process.umask(0o077);
  try {
    makeDirectory(join(directory, "open", "below"), 0o755);
    makeDirectory(join(directory, "closed"));
  } finally {
    process.umask(before);
  }
  const modes = ["open", "open/below", "closed"].map((name) => statSync(join(directory, name)).mode & 0o777);
  expect(modes).toEqual([0o755, 0o755, 0o700]);
});

test("throws if no directory can be made: in /proc, below a file, through a dangling link", () => {
  // Node's recursive mkdir loops for ever on the first path.
  expect(() => makeDirectory("/proc/nope")).toThrow("ENOENT");
  expect(() => makeDirectory("/proc/nope/deeper")).toThrow("ENOENT");
  writeFileSync(join(directory, "file"), "");
  expect(() => makeDirectory(join(directory, "file"))).toThrow("EEXIST");
  expect(() => makeDirectory(join(directory, "file", "below"))).toThrow("ENOTDIR");
  symlinkSync("nowhere", join(directory, "dangling"));
  expect(() => makeDirectory(join(directory, "dangling"))).toThrow("EEXIST");
});
