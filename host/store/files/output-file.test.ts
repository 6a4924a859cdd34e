import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { otherUserOf, isRoot } from "./path-owners.ts";
import { writeOutputFile } from "./output-file.ts";

const stranger = 12_345;
let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-output-"));
  path = join(directory, "page.html");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const write = (to = path, replaces = true): string => {
  const written = writeOutputFile(to, "content", replaces);
  return written.ok ? "written" : written.fault.msg;
};

test("FI-07: a file is for its owner only, and replaces an own file as a whole", () => {
  writeFileSync(path, "old", { mode: 0o644 });
  const before = lstatSync(path).ino;
  expect(write()).toBe("written");
  const { mode, ino } = lstatSync(path);
  expect([readFileSync(path, "utf8"), mode & 0o777, ino === before, readdirSync(directory)]).toEqual([
    "content",
    0o600,
    false,
    ["page.html"],
  ]);
});

test("FI-07: a link, a directory and a file that must not be replaced stay as they are", () => {
  const target = join(directory, "target");
  writeFileSync(target, "kept");
  symlinkSync(target, path);
  expect(write()).toContain("a link, a directory or another special file is there");
  expect(write(path, false)).toContain("the file exists, and is never overwritten");
  symlinkSync(join(directory, "absent"), join(directory, "dangling"));
  expect(write(join(directory, "dangling"), false)).toContain("never overwritten");
  expect(write(directory)).toContain("special file");
  expect([readFileSync(target, "utf8"), existsSync(join(directory, "absent"))]).toEqual(["kept", false]);
});

test("FI-07: a directory that is missing is named", () => {
  expect(write(join(directory, "absent", "page.html"))).toContain("absent");
});

describe.skipIf(!isRoot())("FI-07: root", () => {
  test("FI-07: does not write into another user's file, also one with a second name", () => {
    writeFileSync(path, "theirs");
    chownSync(path, stranger, stranger);
    expect(write()).toContain(`the file there belongs to the user ${stranger}`);
    expect([readFileSync(path, "utf8"), lstatSync(path).uid]).toEqual(["theirs", stranger]);
  });

  test("FI-07: does not write where another user can change the path, also through a link", () => {
    const theirs = join(directory, "theirs");
    mkdirSync(theirs);
    chownSync(theirs, stranger, stranger);
    mkdirSync(join(theirs, "own"));
    for (const to of [join(theirs, "page.html"), join(theirs, "own", "page.html")])
      expect(write(to)).toContain(`${theirs} belongs to the user ${stranger}`);
    symlinkSync(join(theirs, "own"), join(directory, "link"));
    expect(write(join(directory, "link", "page.html"))).toContain("belongs to the user");
    const shared = join(directory, "shared");
    mkdirSync(shared);
    chmodSync(shared, 0o777);
    expect(write(join(shared, "page.html"))).toContain(`other users may write to ${shared}`);
    expect([readdirSync(shared), readdirSync(theirs)]).toEqual([[], ["own"]]);
  });

  test("FI-07: writes into a directory like /tmp, where nobody replaces another user's file", () => {
    const shared = join(directory, "shared");
    mkdirSync(shared);
    chmodSync(shared, 0o1777);
    expect(write(join(shared, "page.html"))).toBe("written");
    writeFileSync(path, "");
    symlinkSync(directory, join(shared, "link"));
    expect(otherUserOf(join(shared, "link", "page.html"))).toBeUndefined();
  });
});
