// The archive for a node, as an administrator gets it: no npm, no sources, only what is in the archive.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { version } from "../../host/system/version.ts";
import { root } from "../lab/compiled.ts";
import { startDaemon } from "../lab/daemon.ts";
import { callBinary, missingBuild } from "../lab/plexus.ts";
import { missing } from "../lab/requires.ts";

const epoch = 1_700_000_000;

/** Makes a gzip in `directory` that compresses less: an archive with Node takes eight seconds of CPU time otherwise. Its bytes depend on the input alone, too. */
function quickGzip(directory: string): string {
  const gzip = execFileSync("sh", ["-c", "command -v gzip"], { encoding: "utf8" }).trim();
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "gzip"), `#!/bin/sh\nexec ${gzip} -1 "$@"\n`, { mode: 0o755 });
  return directory;
}

function makeRelease(out: string, only: string): void {
  execFileSync(process.execPath, ["scripts/release/release.ts", "--untagged", "--no-build", "--only", only, "--out", out], {
    cwd: root,
    env: {
      ...process.env,
      SOURCE_DATE_EPOCH: String(epoch),
      PATH: `${quickGzip(join(dirname(out), "tools"))}:${process.env["PATH"]}`,
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** Runs the release in another tree. */
function releaseIn(tree: string, ...args: readonly string[]) {
  const { status, stderr } = spawnSync(
    process.execPath,
    ["scripts/release/release.ts", "--out", join(tree, "..", "out"), ...args],
    {
      cwd: tree,
      encoding: "utf8",
    },
  );
  return { status, stderr };
}

/** The shared libraries that the dynamic loader would load for a program. */
function libraries(program: string): readonly string[] {
  const lines = execFileSync("ldd", [program], { encoding: "utf8" });
  return [...lines.matchAll(/(?:=> )?(\/\S+) \(0x/g)].flatMap(([, path]) => path ?? []);
}

describe("a release", () => {
  let directory: string;
  let tree: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "plexus-tagged-"));
    tree = join(directory, "plexus");
    mkdirSync(tree);
    // This tree as it is, as the commit of another repository.
    const copy = `git ls-files -z --cached --others --exclude-standard -- $2 | tar -c --null --files-from=- | tar -x -C "$1"`;
    const parts = "package.json .gitignore scripts host src delegates deploy wit";
    execFileSync("sh", ["-c", copy, "sh", tree, parts], { cwd: root });
    const git = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgSign=false"];
    for (const args of [
      ["init", "--quiet"],
      ["add", "."],
      ["commit", "--quiet", "--message", "release"],
    ])
      execFileSync("git", [...git, ...args], { cwd: tree });
    // Outside the repository, where .gitignore does not matter.
    symlinkSync(join(root, "node_modules"), join(directory, "node_modules"));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test("is refused without the tag of its version, and from a tree with a file that is not committed, and nothing is written", () => {
    expect(releaseIn(tree)).toEqual({ status: 1, stderr: expect.stringContaining(`does not have the tag v${version}`) });
    execFileSync("git", ["tag", `v${version}`], { cwd: tree });
    writeFileSync(join(tree, "deploy/helm/plexus/notes.txt"), "");
    const stderr = expect.stringContaining("not committed: deploy/helm/plexus/notes.txt; commit or remove them");
    expect(releaseIn(tree)).toEqual({ status: 1, stderr });
    expect(existsSync(join(directory, "out"))).toBe(false);
  });

  test("of an earlier build is a trial", () => {
    expect(releaseIn(tree, "--no-build")).toEqual({ status: 2, stderr: expect.stringContaining("add --untagged") });
    expect(releaseIn(tree, "--no-build", "--untagged", "--only", "chart")).toEqual({ status: 0, stderr: "" });
    expect(readdirSync(join(directory, "out"))).toContain(`plexus-${version}.tgz`);
  });
});

describe.skipIf(missing("releases", () => missingBuild()))("the archive for a node", () => {
  let directory: string;
  let archive: string;
  let release: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "plexus-release-"));
    makeRelease(join(directory, "one"), "archive,kubectl,chart");
    archive = readdirSync(join(directory, "one")).find((name) => name.startsWith("plexus-") && name.includes("linux")) ?? "";
    execFileSync("tar", ["-xzf", join(directory, "one", archive), "-C", directory]);
    release = join(directory, archive.replace(".tar.gz", ""));
  }, 300_000);
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const install = (env: NodeJS.ProcessEnv, ...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(join(release, "install.sh"), args, { encoding: "utf8", env });
    return { status, stdout, stderr };
  };

  test("a second archive of the same build has the same bytes", () => {
    makeRelease(join(directory, "two"), "archive,kubectl,chart");
    const sums = (name: string): string => readFileSync(join(directory, name, "SHA256SUMS"), "utf8");
    expect(sums("two")).toBe(sums("one"));
    expect(sums("one").split("\n")).toHaveLength(5);
    expect(spawnSync("sha256sum", ["--check", "SHA256SUMS"], { cwd: join(directory, "one") }).status).toBe(0);
  });

  test("has one owner, one time, no link, and no file that others may write", () => {
    const lines = execFileSync("tar", ["--numeric-owner", "--full-time", "--utc", "-tvzf", join(directory, "one", archive)], {
      encoding: "utf8",
    });
    const members = lines
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/\s+/));
    expect(new Set(members.map(([mode]) => mode))).toEqual(new Set(["drwxr-xr-x", "-rwxr-xr-x", "-rw-r--r--"]));
    expect(new Set(members.map(([, owner]) => owner))).toEqual(new Set(["0/0"]));
    expect(new Set(members.map(([, , , date, time]) => `${date} ${time}`))).toEqual(new Set(["2023-11-14 22:13:20"]));
    const names = members.map((member) =>
      member
        .slice(5)
        .join(" ")
        .replace(/^[^/]+\//, ""),
    );
    expect(names).toEqual(
      expect.arrayContaining(["LICENSE", "install.sh", "systemd/plexusd.service", "bin/node", "cni/plexus", "cni/tuning.wasm"]),
    );
  });

  test("has the chart as helm reads it", () => {
    const chart = readdirSync(join(directory, "one")).find((name) => name.endsWith(".tgz")) ?? "";
    const files = execFileSync("tar", ["-tzf", join(directory, "one", chart)], { encoding: "utf8" }).split("\n");
    expect(files).toEqual(expect.arrayContaining(["plexus/Chart.yaml", "plexus/values.yaml", "plexus/templates/daemonset.yaml"]));
  });

  test("krew's manifest has the digest of the archive that it names", () => {
    const manifest = readFileSync(join(directory, "one/plexus.krew.yaml"), "utf8");
    const sums = readFileSync(join(directory, "one/SHA256SUMS"), "utf8");
    const [, digest] = /sha256: "([0-9a-f]{64})"/.exec(manifest) ?? [];
    const [, file] = /uri: ".*\/([^/"]+)"/.exec(manifest) ?? [];
    expect(sums).toContain(`${digest}  ${file}\n`);
    expect(manifest).not.toContain("{{");
  });

  test("installs on a node without npm, and the installed plexusctl and shim work", async () => {
    const bare = join(directory, "bare");
    mkdirSync(bare);
    for (const name of ["dirname", "readlink"]) symlinkSync(join("/usr/bin", name), join(bare, name));
    const [home, bin] = [join(directory, "node/opt/plexus"), join(directory, "node/opt/cni/bin")];
    const result = install({ PATH: bare }, "--home", home, "--cni-bin", bin);
    expect([result.status, result.stderr]).toEqual([0, ""]);
    expect(spawnSync(join(home, "bin/plexusctl"), ["version"], { env: { PATH: bare }, encoding: "utf8" }).status).toBe(0);
    const env = { PLEXUS_SOCKET: "/nonexistent/plexus.sock" };
    expect(await callBinary(join(bin, "plexus"), { verb: "VERSION", env }, bin)).toMatchObject({ status: 0 });
  });

  test("installs over programs that run: daemon and agent stay, and no file is busy", async () => {
    const [home, bin] = [join(directory, "live/opt/plexus"), join(directory, "live/opt/cni/bin")];
    expect(install(process.env, "--home", home, "--cni-bin", bin).status).toBe(0);
    const socket = join(directory, "live/plexus.sock");
    const daemon = await startDaemon({ socket, program: join(home, "plexusd.cjs") });
    const agent = spawn(join(bin, "plexus"), ["agent"], { env: { PLEXUS_SOCKET: socket, CNI_PATH: bin }, stdio: "ignore" });
    try {
      // A mode that changed makes the installer replace the running programs.
      execFileSync("chmod", ["0700", join(bin, "plexus"), join(home, "bin/node"), join(home, "bin/plexus-sandbox")]);
      const result = install(process.env, "--home", home, "--cni-bin", bin);
      expect([result.status, result.stderr]).toEqual([0, ""]);
      expect(result.stdout).toContain(`${join(home, "bin/node")}: written`);
      expect(result.stdout).toContain(`${join(bin, "plexus")}: written`);
      expect(agent.exitCode).toBeNull();
      expect(await callBinary(join(bin, "plexus"), { verb: "VERSION", env: { PLEXUS_SOCKET: socket } }, bin)).toMatchObject({
        status: 0,
      });
    } finally {
      agent.kill();
      await daemon.stop();
    }
  });

  test("on a node without libatomic.so.1 install.sh names the library and its package, and installs nothing", (context) => {
    const node = join(directory, "minimal");
    const placed = new Set<string>();
    const place = (path: string): void => {
      if (placed.has(path)) return;
      placed.add(path);
      mkdirSync(dirname(join(node, path)), { recursive: true });
      copyFileSync(path, join(node, path));
    };
    const used = libraries(join(release, "bin/node"));
    if (!used.some((path) => basename(path) === "libatomic.so.1")) return context.skip("this Node does not need libatomic.so.1");
    for (const program of ["/bin/sh", "/usr/bin/dirname", "/usr/bin/sed"])
      for (const path of [program, ...libraries(program)]) place(path);
    for (const path of used) if (basename(path) !== "libatomic.so.1") place(path);
    mkdirSync(join(node, "rel/bin"), { recursive: true });
    linkSync(join(release, "bin/node"), join(node, "rel/bin/node"));
    copyFileSync(join(release, "install.sh"), join(node, "rel/install.sh"));
    const { status, stderr, error } = spawnSync("chroot", [node, "/rel/install.sh"], { encoding: "utf8" });
    if (error !== undefined || status === 125) return context.skip(`chroot: ${error?.message ?? stderr}`);
    expect(status).toBe(1);
    expect(stderr).toContain("the library libatomic.so.1 is missing. Debian: apt-get install libatomic1.");
    expect(stderr).toContain("Nothing was installed.");
    expect(existsSync(join(node, "opt"))).toBe(false);
    return undefined;
  });
});
