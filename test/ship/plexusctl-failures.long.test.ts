// plexusctl where the system refuses something: a full disk behind stdout, files that cannot be looked at, a state that cannot be read.

import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, openSync, closeSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { dist, missingBuild } from "../lab/plexus.ts";
import { missing } from "../lab/requires.ts";

const plexusctl = (...args: readonly string[]): SpawnSyncReturns<string> =>
  spawnSync(process.execPath, [join(dist, "plexusctl.cjs"), ...args], { encoding: "utf8", timeout: 120_000 });

/** Runs a command whose stdout has no room. */
function withFullOutput(...args: readonly string[]): SpawnSyncReturns<string> {
  const full = openSync("/dev/full", "w");
  try {
    const command = [join(dist, "plexusctl.cjs"), ...args];
    return spawnSync(process.execPath, command, { stdio: ["ignore", full, "pipe"], encoding: "utf8", timeout: 120_000 });
  } finally {
    closeSync(full);
  }
}

describe.skipIf(missing("plexusctl's failures", () => missingBuild()))("plexusctl", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "plexus-failures-"));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  test("a command whose output is lost fails and says so", () => {
    for (const command of [["version"], ["sysdump", "-o", "-"]]) {
      const { status, stderr } = withFullOutput(...command);
      expect([command, status, stderr]).toEqual([
        command,
        1,
        expect.stringMatching(/^plexusctl: the output could not be written: ENOSPC.*\n$/u),
      ]);
    }
  });

  test("a reader that closes the pipe early is no failure, also of an archive", () => {
    const script = `"$0" "$1" sysdump -o - --status-socket "$2/none" --state-dir "$2" | head -c 1 | wc -c; exit "\${PIPESTATUS[0]}"`;
    const args = ["-c", script, process.execPath, join(dist, "plexusctl.cjs"), directory];
    const { stdout, stderr } = spawnSync("bash", args, { encoding: "utf8", timeout: 120_000 });
    expect([stdout.trim(), stderr]).toEqual(["1", ""]);
  });

  test("a path that the system does not look into is an error of the command, and no defect", () => {
    const loop = join(directory, "loop");
    symlinkSync(loop, loop);
    const file = join(directory, "10-net.conflist");
    writeFileSync(file, JSON.stringify({ cniVersion: "1.0.0", name: "net", plugins: [{ type: "bridge" }] }));
    for (const command of [
      ["migrate", loop],
      ["lint", "--config", loop, file],
      ["explain", "--cni-path", loop, file],
      ["doctor", "--config", loop, "--cni-path", loop, "--state-dir", loop],
    ]) {
      const { status, stderr } = plexusctl(...command);
      expect([command, [0, 1].includes(status ?? -1), stderr]).toEqual([command, true, expect.not.stringMatching(/\n +at /u)]);
    }
  });

  test("attachments that cannot be read are no empty list", () => {
    const none = ["--status-socket", join(directory, "none")];
    const fresh = plexusctl("attachments", "--state-dir", join(directory, "fresh"), "-o", "json", ...none);
    expect([fresh.status, fresh.stdout, fresh.stderr]).toEqual([0, "[]\n", expect.stringContaining("does not exist")]);
    mkdirSync(join(directory, "state"));
    const journal = join(directory, "state", "journal");
    symlinkSync(journal, journal);
    const broken = plexusctl("attachments", "--state-dir", join(directory, "state"), ...none);
    expect([broken.status, broken.stderr]).toEqual([1, expect.stringContaining("attachments may be missing: ")]);
  });

  test("traces that cannot be listed are no empty directory", () => {
    const file = join(directory, "traces");
    writeFileSync(file, "no directory");
    const { status, stderr } = plexusctl("trace", "show", "--directory", file);
    expect([status, stderr]).toEqual([1, expect.stringContaining(`listing ${file}: ENOTDIR`)]);
  });
});
