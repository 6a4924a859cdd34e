// `plexusctl install` from a build and from a release, on directories that play a node's.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { root } from "../lab/compiled.ts";
import { callBinary, dist, missingBuild } from "../lab/plexus.ts";
import { missing } from "../lab/requires.ts";

interface Installed {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(...args: readonly string[]): Installed {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(dist, "plexusctl.cjs"), "install", ...args], {
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

/** The document of `-o json`. */
function report({ stdout }: Installed): Readonly<Record<string, unknown>> {
  return JSON.parse(stdout);
}

function loopback(release: string): Buffer {
  return readFileSync(join(release, "delegates/loopback.wasm"));
}

describe.skipIf(missing("plexusctl install", () => missingBuild()))("plexusctl install", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "plexus-install-"));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  const home = (): string => join(directory, "node/opt/plexus");
  const bin = (): string => join(directory, "node/opt/cni/bin");

  const install = (...args: readonly string[]): Installed => run("--home", home(), "--cni-bin", bin(), ...args);

  test("an administrator's umask 077 closes no directory to the sandbox processes, which have users of their own", () => {
    const script = 'umask 077; exec "$@"';
    const command = [process.execPath, join(dist, "plexusctl.cjs"), "install", "--home", home(), "--cni-bin", bin()];
    const { status, stderr } = spawnSync("sh", ["-c", script, "sh", ...command], { encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
    const code = readlinkSync(join(home(), "engine"));
    const modes = [bin(), home(), join(home(), "bin"), join(home(), code)].map((path) =>
      (statSync(path).mode & 0o7777).toString(8),
    );
    expect(modes).toEqual(["755", "755", "755", "755"]);
  });

  /** Name, inode, size and change time of each entry: a file that is written or renamed changes them. */
  function snapshot(): readonly string[] {
    return readdirSync(directory, { recursive: true, encoding: "utf8" })
      .filter((name) => !name.includes("/cache"))
      .map((name) => {
        const { ino, size, ctimeMs } = statSync(join(directory, name));
        return `${name} ${ino} ${size} ${ctimeMs}`;
      })
      .toSorted();
  }

  /** A copy of the build with another content of the code and of one component. */
  function otherRelease(name: string): string {
    const copy = join(directory, "releases", name);
    cpSync(dist, copy, { recursive: true, filter: (path) => !/\/(?:test|cache)/.test(path.slice(dist.length)) });
    appendFileSync(join(copy, "engine", "once.cjs"), `// ${name}\n`);
    cpSync(join(dist, "delegates/tuning.wasm"), join(copy, "delegates", "loopback.wasm"));
    return copy;
  }

  test("installs a build, and writes nothing the second time", () => {
    const first = install("-o", "json");
    expect([first.status, first.stderr]).toEqual([0, ""]);
    const written = [join(home(), "bin/node"), join(bin(), "plexus"), join(bin(), "tuning.wasm")];
    expect(report(first)).toMatchObject({ dryRun: false, kept: [], tried: { shim: expect.any(String), node: process.version } });
    expect(report(first)["written"]).toEqual(expect.arrayContaining(written));
    const before = snapshot();
    const second = install("-o", "json");
    expect(report(second)).toMatchObject({ written: [], unchanged: expect.any(Number), removed: [] });
    expect(snapshot()).toEqual(before);
    expect(readdirSync(bin()).filter((name) => name.startsWith("."))).toEqual([".plexus", ".plexus-installed-files"]);
    for (const [path, mode] of [
      [join(bin(), "plexus"), 0o755],
      [join(bin(), "tuning.wasm"), 0o644],
      [join(home(), "bin/node"), 0o755],
      [join(home(), "plexusctl.cjs"), 0o644],
    ] as const)
      expect([path, statSync(path).mode & 0o7777]).toEqual([path, mode]);
  });

  test("a wrong mode, and a file that was removed, are put right", () => {
    expect(install().status).toBe(0);
    chmodSync(join(bin(), "plexus"), 0o600);
    rmSync(join(home(), "plexusd.cjs"));
    expect(report(install("-o", "json"))["written"]).toEqual([join(home(), "plexusd.cjs"), join(bin(), "plexus")]);
    expect(statSync(join(bin(), "plexus")).mode & 0o777).toBe(0o755);
  });

  test("--dry-run changes nothing and reports what an installation would write", () => {
    const dry = install("--dry-run", "-o", "json");
    expect(dry.status).toBe(0);
    expect(existsSync(join(directory, "node"))).toBe(false);
    const real = install("-o", "json");
    expect(report(dry)["written"]).toEqual(report(real)["written"]);
  });

  test("--one-shot off installs the shim and the components alone", () => {
    const result = install("--one-shot", "off", "--components", "tuning,portmap", "-o", "json");
    expect(report(result)).toMatchObject({ home: null, tried: { node: null } });
    const present = [".plexus", ".plexus-installed-files", "plexus", "portmap.wasm", "tuning.wasm"];
    expect(readdirSync(bin()).toSorted()).toEqual(present);
    expect(existsSync(join(bin(), ".plexus"))).toBe(false);
    expect(existsSync(home())).toBe(false);
    // Later without a selection: the list still tells that the components are Plexus' own.
    const all = install("--one-shot", "off", "--from", otherRelease("two"), "-o", "json");
    expect(report(all)).toMatchObject({ kept: [] });
  });

  test("a change of --one-shot replaces the earlier release's components, and takes its engine and its list away", () => {
    const two = otherRelease("two");
    expect(install("--one-shot", "off", "--from", two).status).toBe(0);
    const engine = install("--one-shot", "node", "-o", "json");
    expect(report(engine)).toMatchObject({ kept: [], home: home() });
    expect(readFileSync(join(bin(), "loopback.wasm"))).toEqual(loopback(dist));
    expect(readdirSync(bin()).filter((name) => name.startsWith("."))).toEqual([".plexus", ".plexus-installed-files"]);
    const dry = install("--one-shot", "off", "--from", two, "--dry-run", "-o", "json");
    expect(existsSync(join(home(), "engine"))).toBe(true);
    const off = install("--one-shot", "off", "--from", two, "-o", "json");
    expect(report(off)).toMatchObject({ kept: [], removed: expect.arrayContaining([join(home(), "bin/node")]) });
    expect(report(off)["removed"]).toEqual(report(dry)["removed"]);
    expect(readFileSync(join(bin(), "loopback.wasm"))).toEqual(loopback(two));
    expect(existsSync(home())).toBe(false);
    expect(readdirSync(bin()).filter((name) => name.startsWith("."))).toEqual([".plexus", ".plexus-installed-files"]);
    const again = install("--one-shot", "off", "--from", two, "-o", "json");
    expect(report(again)).toMatchObject({ written: [], removed: [], kept: [] });
    expect(install("--remove").status).toBe(0);
    expect(readdirSync(bin())).toEqual([]);
  });

  test("--one-shot off leaves an engine from which a process runs, and the next installation removes it", async () => {
    expect(install().status).toBe(0);
    const running = spawn(join(home(), "bin/node"), ["--eval", "process.stdin.resume()"], {
      stdio: ["pipe", "ignore", "inherit"],
    });
    try {
      await new Promise((resolve) => running.once("spawn", resolve));
      const why = `process ${running.pid} runs from it; repeat the installation when the process has ended`;
      expect(report(install("--one-shot", "off", "-o", "json"))).toMatchObject({ removed: [], kept: [{ path: home(), why }] });
      // The shim no longer finds it.
      expect(existsSync(join(bin(), ".plexus"))).toBe(false);
    } finally {
      running.kill("SIGKILL");
      await new Promise((resolve) => running.once("close", resolve));
    }
    expect(report(install("--one-shot", "off", "-o", "json"))).toMatchObject({ kept: [] });
    expect(existsSync(home())).toBe(false);
  });

  test("--root: the link .plexus has the node's path, and the report, too", () => {
    const result = run("--root", join(directory, "node"), "-o", "json");
    expect(result.stderr).toBe("");
    expect(readlinkSync(join(bin(), ".plexus"))).toBe("/opt/plexus");
    expect(report(result)["written"]).toEqual(expect.arrayContaining(["/opt/plexus/bin/node", "/opt/cni/bin/plexus"]));
  });

  test("--root: a directory that leads elsewhere through a link is refused", () => {
    mkdirSync(join(directory, "node/opt"), { recursive: true });
    mkdirSync(join(directory, "elsewhere"));
    symlinkSync(join(directory, "elsewhere"), join(directory, "node/opt/cni"));
    const { status, stderr } = run("--root", join(directory, "node"));
    expect(status).toBe(1);
    expect(stderr).toContain("leads through a symbolic link to");
    expect(readdirSync(join(directory, "elsewhere/bin"))).toEqual([]);
  });

  test.each([["node"], ["off"]])("--remove takes an installation away, and leaves other files: --one-shot %s", (oneShot) => {
    const places = ["--root", join(directory, "node")];
    mkdirSync(bin(), { recursive: true });
    writeFileSync(join(bin(), "bridge"), "a native plugin");
    expect(run(...places, "--one-shot", oneShot).status).toBe(0);
    const dry = run(...places, "--remove", "--dry-run");
    expect([dry.status, existsSync(join(bin(), "plexus"))]).toEqual([0, true]);
    expect(run(...places, "--remove")).toMatchObject({ status: 0, stderr: "", stdout: dry.stdout.replaceAll("would be ", "") });
    expect(readdirSync(bin())).toEqual(["bridge"]);
    expect(existsSync(home())).toBe(false);
    expect(run(...places, "--remove")).toEqual({ status: 0, stdout: "no file of Plexus was found\n", stderr: "" });
    // A changed file stays, and so does the list, for the next try.
    expect(run(...places, "--one-shot", oneShot).status).toBe(0);
    writeFileSync(join(bin(), "tuning.wasm"), "changed");
    expect(run(...places, "--remove")).toMatchObject({
      status: 1,
      stdout: expect.stringContaining("was changed since it was installed"),
    });
    rmSync(join(bin(), "tuning.wasm"));
    expect(run(...places, "--remove").status).toBe(0);
    expect(readdirSync(bin())).toEqual(["bridge"]);
  });

  test("an administrator's component is never replaced", () => {
    expect(install().status).toBe(0);
    writeFileSync(join(bin(), "tuning.wasm"), "changed by the administrator");
    const changed = install("-o", "json");
    expect(report(changed)["kept"]).toEqual([{ path: join(bin(), "tuning.wasm"), why: "was changed since it was installed" }]);
    rmSync(bin(), { recursive: true });
    rmSync(home(), { recursive: true });
    mkdirSync(bin(), { recursive: true });
    writeFileSync(join(bin(), "tuning.wasm"), "the administrator's own");
    const own = install("-o", "json");
    expect(report(own)["kept"]).toEqual([{ path: join(bin(), "tuning.wasm"), why: "was not installed by Plexus" }]);
    expect(readFileSync(join(bin(), "tuning.wasm"), "utf8")).toBe("the administrator's own");
  });

  test("a component of an earlier release is replaced", () => {
    expect(install("--from", otherRelease("two")).status).toBe(0);
    expect(readFileSync(join(bin(), "loopback.wasm"))).toEqual(readFileSync(join(dist, "delegates/tuning.wasm")));
    expect(report(install("-o", "json"))).toMatchObject({ kept: [] });
    expect(readFileSync(join(bin(), "loopback.wasm"))).toEqual(readFileSync(join(dist, "delegates/loopback.wasm")));
  });

  test.each([["node"], ["off"]])("components of an interrupted installation stay Plexus' own: --one-shot %s", (oneShot) => {
    const options = ["--one-shot", oneShot] as const;
    for (const [release, next] of [
      [dist, otherRelease("two")],
      [otherRelease("three"), dist],
    ] as const) {
      // The shim's rename, which is the last one, fails after those of the components.
      rmSync(join(bin(), "plexus"), { force: true });
      mkdirSync(join(bin(), "plexus/directory"), { recursive: true });
      expect(install(...options, "--from", release).status).toBe(1);
      expect(loopback(release).equals(readFileSync(join(bin(), "loopback.wasm")))).toBe(true);
      rmSync(join(bin(), "plexus"), { recursive: true });
      expect(report(install(...options, "--from", next, "-o", "json"))).toMatchObject({ kept: [] });
      expect(loopback(next).equals(readFileSync(join(bin(), "loopback.wasm")))).toBe(true);
    }
  });

  test("the removal of an interrupted installation leaves nothing of it", () => {
    expect(install().status).toBe(0);
    rmSync(join(bin(), "plexus"));
    mkdirSync(join(bin(), "plexus/directory"), { recursive: true });
    expect(install("--from", otherRelease("two")).status).toBe(1);
    rmSync(join(bin(), "plexus"), { recursive: true });
    const removal = run("--remove", "--home", home(), "--cni-bin", bin(), "-o", "json");
    expect([removal.status, removal.stderr]).toEqual([0, ""]);
    expect(readdirSync(bin())).toEqual([]);
    expect(existsSync(home())).toBe(false);
  });

  test("a missing library is named before anything is switched", () => {
    expect(install().status).toBe(0);
    const release = otherRelease("two");
    // A program whose library is gone: the kernel's and glibc's answers are real.
    const library = join(directory, "libplexus-absent.so.1");
    writeFileSync(join(directory, "lib.c"), "int absent(void) { return 0; }\n");
    writeFileSync(join(directory, "main.c"), "int absent(void);\nint main(void) { return absent(); }\n");
    const cc = process.env["CC"] ?? "cc";
    execFileSync(cc, ["-shared", "-fPIC", "-Wl,-soname,libplexus-absent.so.1", "-o", library, join(directory, "lib.c")]);
    rmSync(join(release, "bin/node"));
    execFileSync(cc, ["-o", join(release, "bin/node"), join(directory, "main.c"), library]);
    rmSync(library);
    const before = snapshot().filter((line) => line.startsWith("node/"));
    const { status, stderr } = install("--from", release);
    expect(status).toBe(1);
    expect(stderr).toContain("the library libplexus-absent.so.1 is missing. Install libplexus-absent.so.1 on the node");
    const after = snapshot().filter((line) => line.startsWith("node/"));
    // Only directories changed, by the temporary files in them.
    const files = (lines: readonly string[]): readonly string[] =>
      lines
        .filter((line) => statSync(join(directory, line.slice(0, line.indexOf(" ")))).isFile())
        .map((line) => line.split(" ").slice(0, 3).join(" "));
    expect(files(after)).toEqual(files(before));
    // Node of another architecture, and a shim that does not run.
    writeFileSync(join(release, "bin/node"), Buffer.concat([Buffer.from([0x7f, 0x45, 0x4c, 0x46]), Buffer.alloc(60, 0xff)]));
    expect(install("--from", release).stderr).toContain("is for another CPU architecture than this node's");
    rmSync(join(release, "bin/node"));
    writeFileSync(join(release, "plexus"), "#!/bin/sh\nexit 0\n");
    expect(install("--from", release).stderr).toMatch(/the shim .* does not run here/);
    expect(files(snapshot().filter((line) => line.startsWith("node/")))).toEqual(files(before));
  });

  test("a full disk leaves the installation as it was", (context) => {
    const mounted = spawnSync("sh", ["-c", `mkdir -p ${directory}/node && mount -t tmpfs -o size=200m none ${directory}/node`]);
    if (mounted.status !== 0) return context.skip("tmpfs can't be mounted here");
    try {
      expect(install().status).toBe(0);
      const listOf = (): string =>
        execFileSync("find", [join(directory, "node"), "-type", "f", "-printf", "%P %s %i\n"], { encoding: "utf8" });
      const before = listOf().split("\n").toSorted();
      const release = otherRelease("two");
      rmSync(join(release, "bin/node"));
      // Another Node does not fit beside the first.
      cpSync(process.execPath, join(release, "bin/node"));
      appendFileSync(join(release, "bin/node"), "other");
      const { status, stderr } = install("--from", release);
      expect(status).toBe(1);
      expect(stderr).toContain("ENOSPC");
      expect(listOf().split("\n").toSorted()).toEqual(before);
      expect(run("--home", home(), "--cni-bin", bin(), "-o", "json").status).toBe(0);
    } finally {
      // A program of the installation may still be ending, which keeps an ordinary unmount from succeeding.
      spawnSync("umount", ["--lazy", join(directory, "node")]);
    }
    return undefined;
  });

  test("MO-25 installations at the same time, with calls meanwhile: no call fails, no file is half-written", async () => {
    const releases = [dist, otherRelease("two")];
    expect(install().status).toBe(0);
    const failures: string[] = [];
    const loop = { goesOn: true };
    let calls = 0;
    const callLoop = async (): Promise<void> => {
      for (; loop.goesOn; calls++) {
        const env = { PLEXUS_SOCKET: "/nonexistent/plexus.sock" };
        const answer = await callBinary(join(bin(), "plexus"), { verb: "VERSION", env }, bin());
        if (answer.status !== 0) failures.push(answer.stdout + answer.stderr);
      }
    };
    const installer = (from: string): Promise<number | null> => {
      const args = [join(dist, "plexusctl.cjs"), "install", "--home", home(), "--cni-bin", bin(), "--from", from];
      const child = spawn(process.execPath, args, { stdio: "inherit" });
      return new Promise((resolve) => child.once("close", resolve));
    };
    const calling = callLoop();
    for (let round = 0; round < 3; round++) {
      expect(await Promise.all([installer(releases[round % 2] ?? ""), installer(releases[(round + 1) % 2] ?? "")])).toEqual([
        0, 0,
      ]);
    }
    loop.goesOn = false;
    await calling;
    expect(failures).toEqual([]);
    expect(calls).toBeGreaterThan(3);
    expect(readdirSync(bin()).filter((name) => name.endsWith(".new"))).toEqual([]);
  });

  test.each([
    [["--nonsense"], 2, "unknown option --nonsense"],
    [["--home", "opt"], 2, "--home opt: must be an absolute path"],
    [["--one-shot", "maybe"], 2, "--one-shot maybe: must be one of node, off"],
    [["--from", "/etc"], 1, "/etc is not a complete release of Plexus"],
    [["--components", "tunning"], 1, "the release has no tunning.wasm; it has bandwidth, bond,"],
  ])("%j is refused in one line", (args, status, line) => {
    const result = install(...args);
    expect([result.status, result.stdout]).toEqual([status, ""]);
    expect(result.stderr).toMatch(/^plexusctl: .*\n$/);
    expect(result.stderr).toContain(line);
    expect(existsSync(bin())).toBe(false);
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
