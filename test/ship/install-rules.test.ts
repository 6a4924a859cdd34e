// `plexusctl install` from a build and from a release: which files it writes, keeps and removes, the same for each user.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { root } from "../lab/compiled.ts";
import { dist, missingBuild } from "../lab/plexus.ts";
import { missing } from "../lab/requires.ts";
import { loopbackOf, reportOf, runInstall, TrialNode } from "./trial-node.ts";

describe.skipIf(missing("plexusctl install", () => missingBuild()))("plexusctl install", () => {
  let trial: TrialNode;
  beforeEach(() => {
    trial = new TrialNode();
  });
  afterEach(() => trial.dispose());

  test("--dry-run changes nothing and reports what an installation would write", () => {
    const dry = trial.install("--dry-run", "-o", "json");
    expect(dry.status).toBe(0);
    expect(existsSync(join(trial.directory, "node"))).toBe(false);
    const real = trial.install("-o", "json");
    expect(reportOf(dry)["written"]).toEqual(reportOf(real)["written"]);
  });

  test("--one-shot off installs the shim and the components alone", () => {
    const result = trial.install("--one-shot", "off", "--components", "tuning,portmap", "-o", "json");
    expect(reportOf(result)).toMatchObject({ home: null, tried: { node: null } });
    const present = [".plexus", ".plexus-installed-files", "plexus", "portmap.wasm", "tuning.wasm"];
    expect(readdirSync(trial.bin).toSorted()).toEqual(present);
    expect(existsSync(join(trial.bin, ".plexus"))).toBe(false);
    expect(existsSync(trial.home)).toBe(false);
    // Later without a selection: the list still tells that the components are Plexus' own.
    const all = trial.install("--one-shot", "off", "--from", trial.otherRelease("two"), "-o", "json");
    expect(reportOf(all)).toMatchObject({ kept: [] });
  });

  test("a change of --one-shot replaces the earlier release's components, and takes its engine and its list away", () => {
    const two = trial.otherRelease("two");
    expect(trial.install("--one-shot", "off", "--from", two).status).toBe(0);
    const engine = trial.install("--one-shot", "node", "-o", "json");
    expect(reportOf(engine)).toMatchObject({ kept: [], home: trial.home });
    expect(readFileSync(join(trial.bin, "loopback.wasm"))).toEqual(loopbackOf(dist));
    expect(readdirSync(trial.bin).filter((name) => name.startsWith("."))).toEqual([".plexus", ".plexus-installed-files"]);
    const dry = trial.install("--one-shot", "off", "--from", two, "--dry-run", "-o", "json");
    expect(existsSync(join(trial.home, "engine"))).toBe(true);
    const off = trial.install("--one-shot", "off", "--from", two, "-o", "json");
    expect(reportOf(off)).toMatchObject({ kept: [], removed: expect.arrayContaining([join(trial.home, "bin/node")]) });
    expect(reportOf(off)["removed"]).toEqual(reportOf(dry)["removed"]);
    expect(readFileSync(join(trial.bin, "loopback.wasm"))).toEqual(loopbackOf(two));
    expect(existsSync(trial.home)).toBe(false);
    expect(readdirSync(trial.bin).filter((name) => name.startsWith("."))).toEqual([".plexus", ".plexus-installed-files"]);
    const again = trial.install("--one-shot", "off", "--from", two, "-o", "json");
    expect(reportOf(again)).toMatchObject({ written: [], removed: [], kept: [] });
    expect(trial.install("--remove").status).toBe(0);
    expect(readdirSync(trial.bin)).toEqual([]);
  });

  test("an administrator's component is never replaced", () => {
    expect(trial.install().status).toBe(0);
    writeFileSync(join(trial.bin, "tuning.wasm"), "changed by the administrator");
    const changed = trial.install("-o", "json");
    expect(reportOf(changed)["kept"]).toEqual([
      { path: join(trial.bin, "tuning.wasm"), why: "was changed since it was installed" },
    ]);
    rmSync(trial.bin, { recursive: true });
    rmSync(trial.home, { recursive: true });
    mkdirSync(trial.bin, { recursive: true });
    writeFileSync(join(trial.bin, "tuning.wasm"), "the administrator's own");
    const own = trial.install("-o", "json");
    expect(reportOf(own)["kept"]).toEqual([{ path: join(trial.bin, "tuning.wasm"), why: "was not installed by Plexus" }]);
    expect(readFileSync(join(trial.bin, "tuning.wasm"), "utf8")).toBe("the administrator's own");
  });

  test("a component of an earlier release is replaced", () => {
    expect(trial.install("--from", trial.otherRelease("two")).status).toBe(0);
    expect(readFileSync(join(trial.bin, "loopback.wasm"))).toEqual(readFileSync(join(dist, "delegates/tuning.wasm")));
    expect(reportOf(trial.install("-o", "json"))).toMatchObject({ kept: [] });
    expect(readFileSync(join(trial.bin, "loopback.wasm"))).toEqual(readFileSync(join(dist, "delegates/loopback.wasm")));
  });

  test.each([["node"], ["off"]])("components of an interrupted installation stay Plexus' own: --one-shot %s", (oneShot) => {
    const options = ["--one-shot", oneShot] as const;
    for (const [release, next] of [
      [dist, trial.otherRelease("two")],
      [trial.otherRelease("three"), dist],
    ] as const) {
      // The shim's rename, which is the last one, fails after those of the components.
      rmSync(join(trial.bin, "plexus"), { force: true });
      mkdirSync(join(trial.bin, "plexus/directory"), { recursive: true });
      expect(trial.install(...options, "--from", release).status).toBe(1);
      expect(loopbackOf(release).equals(readFileSync(join(trial.bin, "loopback.wasm")))).toBe(true);
      rmSync(join(trial.bin, "plexus"), { recursive: true });
      expect(reportOf(trial.install(...options, "--from", next, "-o", "json"))).toMatchObject({ kept: [] });
      expect(loopbackOf(next).equals(readFileSync(join(trial.bin, "loopback.wasm")))).toBe(true);
    }
  });

  test("the removal of an interrupted installation leaves nothing of it", () => {
    expect(trial.install().status).toBe(0);
    rmSync(join(trial.bin, "plexus"));
    mkdirSync(join(trial.bin, "plexus/directory"), { recursive: true });
    expect(trial.install("--from", trial.otherRelease("two")).status).toBe(1);
    rmSync(join(trial.bin, "plexus"), { recursive: true });
    const removal = runInstall("--remove", "--home", trial.home, "--cni-bin", trial.bin, "-o", "json");
    expect([removal.status, removal.stderr]).toEqual([0, ""]);
    expect(readdirSync(trial.bin)).toEqual([]);
    expect(existsSync(trial.home)).toBe(false);
  });

  test("a missing library is named before anything is switched", () => {
    expect(trial.install().status).toBe(0);
    const release = trial.otherRelease("two");
    // A program whose library is gone: the kernel's and glibc's answers are real.
    const library = join(trial.directory, "libplexus-absent.so.1");
    writeFileSync(join(trial.directory, "lib.c"), "int absent(void) { return 0; }\n");
    writeFileSync(join(trial.directory, "main.c"), "int absent(void);\nint main(void) { return absent(); }\n");
    const cc = process.env["CC"] ?? "cc";
    execFileSync(cc, ["-shared", "-fPIC", "-Wl,-soname,libplexus-absent.so.1", "-o", library, join(trial.directory, "lib.c")]);
    rmSync(join(release, "bin/node"));
    execFileSync(cc, ["-o", join(release, "bin/node"), join(trial.directory, "main.c"), library]);
    rmSync(library);
    const before = trial.snapshot().filter((line) => line.startsWith("node/"));
    const { status, stderr } = trial.install("--from", release);
    expect(status).toBe(1);
    expect(stderr).toContain("the library libplexus-absent.so.1 is missing. Install libplexus-absent.so.1 on the node");
    const after = trial.snapshot().filter((line) => line.startsWith("node/"));
    // Only directories changed, by the temporary files in them.
    const files = (lines: readonly string[]): readonly string[] =>
      lines
        .filter((line) => statSync(join(trial.directory, line.slice(0, line.indexOf(" ")))).isFile())
        .map((line) => line.split(" ").slice(0, 3).join(" "));
    expect(files(after)).toEqual(files(before));
    // Node of another architecture, and a shim that does not run.
    writeFileSync(join(release, "bin/node"), Buffer.concat([Buffer.from([0x7f, 0x45, 0x4c, 0x46]), Buffer.alloc(60, 0xff)]));
    expect(trial.install("--from", release).stderr).toContain("is for another CPU architecture than this node's");
    rmSync(join(release, "bin/node"));
    writeFileSync(join(release, "plexus"), "#!/bin/sh\nexit 0\n");
    expect(trial.install("--from", release).stderr).toMatch(/the shim .* does not run here/);
    expect(files(trial.snapshot().filter((line) => line.startsWith("node/")))).toEqual(files(before));
  });

  test.each([
    [["--nonsense"], 2, "unknown option --nonsense"],
    [["--home", "opt"], 2, "--home opt: must be an absolute path"],
    [["--one-shot", "maybe"], 2, "--one-shot maybe: must be one of node, off"],
    [["--from", "/etc"], 1, "/etc is not a complete release of Plexus"],
    [["--components", "tunning"], 1, "the release has no tunning.wasm; it has bandwidth, bond,"],
  ])("%j is refused in one line", (args, status, line) => {
    const result = trial.install(...args);
    expect([result.status, result.stdout]).toEqual([status, ""]);
    expect(result.stderr).toMatch(/^plexusctl: .*\n$/);
    expect(result.stderr).toContain(line);
    expect(existsSync(trial.bin)).toBe(false);
  });

  test("the systemd units of deploy/systemd are those of the pages on the daemon and the agent", () => {
    const pages = ["run-the-daemon.md", "run-the-agent.md"].map((page) => readFileSync(join(root, "docs/how-to", page), "utf8"));
    // The pages have drop-ins of the units, too.
    const blocks = [...pages.join("\n").matchAll(/^```ini\n(# \S+\.service\n[\s\S]*?)^```$/gm)].map(([, text]) => text);
    const units = ["plexusd.service", "plexus-agent.service"].map((name) =>
      readFileSync(join(root, "deploy/systemd", name), "utf8"),
    );
    expect(blocks).toEqual(units);
  });
});
