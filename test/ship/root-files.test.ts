// Files that root's plexusctl writes at a path that another user prepared.

import { spawnSync } from "node:child_process";
import {
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isRoot } from "../../host/store/files/path-owners.ts";
import { dist, missingBuild } from "../lab/plexus.ts";
import { missing } from "../lab/requires.ts";

const stranger = 12_345;

describe.skipIf(!isRoot() || missing("files of root's plexusctl", () => missingBuild()))("FI-07: root's plexusctl", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "plexus-root-files-"));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  /** Runs a command that writes a file about a node without a daemon. */
  function write(command: "ui" | "sysdump", path: string): readonly [status: number | null, text: string] {
    const places = ["--state-dir", join(directory, "state"), "--status-socket", join(directory, "absent.sock")];
    const option = command === "ui" ? "--html" : "-o";
    const args = [join(dist, "plexusctl.cjs"), command, option, path, ...places];
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], {
      encoding: "utf8",
    });
    return [status, stdout + stderr];
  }

  test.each(["ui", "sysdump"] as const)("FI-07: %s does not write into another user's file", (command) => {
    const path = join(directory, "file");
    writeFileSync(path, "theirs");
    chownSync(path, stranger, stranger);
    expect(write(command, path)).toEqual([1, expect.stringMatching(/belongs to the user 12345|never overwritten/u)]);
    expect([readFileSync(path, "utf8"), lstatSync(path).uid]).toEqual(["theirs", stranger]);
  });

  test.each(["ui", "sysdump"] as const)("FI-07: %s does not follow a link, nor write in another user's directory", (command) => {
    const target = join(directory, "target");
    writeFileSync(target, "kept");
    const link = join(directory, "link");
    symlinkSync(target, link);
    expect(write(command, link)[0]).toBe(1);
    const theirs = join(directory, "theirs");
    mkdirSync(theirs);
    chownSync(theirs, stranger, stranger);
    expect(write(command, join(theirs, "file"))).toEqual([
      1,
      expect.stringContaining("belongs to the user 12345, who could lead root"),
    ]);
    expect([readFileSync(target, "utf8"), readdirSync(theirs)]).toEqual(["kept", []]);
  });

  test("FI-07: ui writes a new file, and replaces its own", () => {
    const path = join(directory, "page.html");
    for (let round = 0; round < 2; round++) expect(write("ui", path)).toEqual([0, expect.stringMatching(/: \d+ bytes\n$/u)]);
    expect((lstatSync(path).mode & 0o777).toString(8)).toBe("600");
  });
});
