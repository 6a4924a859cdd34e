// A whole release, with the image, from two fresh clones of this commit in different directories: the same checksums.
// Takes some ten minutes: PLEXUS_TEST_RELEASE=1 npm test -- test/ship/release-twice.test.ts

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { version } from "../../host/system/version.ts";
import { unpackedBuildah, builder, downloads, imagePrograms, makeBuilder } from "../lab/image/programs.ts";
import { root } from "../lab/compiled.ts";
import { missing, type Requirement } from "../lab/requires.ts";

const asked: Requirement = () =>
  process.env["PLEXUS_TEST_RELEASE"] === undefined
    ? "it takes some ten minutes; set PLEXUS_TEST_RELEASE=1 to build the release twice"
    : undefined;

/** A clone at this commit, tagged as the release, with the packages of this tree. */
function clone(directory: string, commit: string): void {
  execFileSync("git", ["clone", "--quiet", "--no-local", root, directory], { stdio: "inherit" });
  execFileSync("git", ["checkout", "--quiet", commit], { cwd: directory });
  execFileSync("git", ["tag", "--force", `v${version}`], { cwd: directory });
  execFileSync("cp", ["-a", join(root, "node_modules"), join(directory, "node_modules")]);
}

/** Makes the release as an administrator does, with a storage of buildah, a cache and a temporary directory of its own. */
async function release(directory: string, commit: string, umask: string): Promise<string> {
  const tree = join(directory, "plexus");
  const out = join(directory, "release");
  const storage = join(directory, "storage");
  const temporary = join(directory, "tmp");
  mkdirSync(temporary, { recursive: true });
  // Sandbox processes run under other uids.
  chmodSync(temporary, 0o1777);
  clone(tree, commit);
  await makeBuilder({ ...unpackedBuildah, storage });
  const image = [
    "--builder",
    builder,
    "--downloads",
    downloads,
    "--buildah",
    unpackedBuildah.program ?? "",
    "--storage",
    storage,
  ];
  const node = join(tree, "node_modules/node/bin/node");
  const command = [`umask ${umask}; exec "$@"`, "sh", node, "scripts/release/release.ts", "--out", out, ...image];
  execFileSync("sh", ["-c", ...command], {
    cwd: tree,
    env: {
      PATH: `${join(tree, "node_modules/node/bin")}:${process.env["PATH"]}`,
      HOME: directory,
      XDG_CACHE_HOME: join(directory, "cache"),
      TMPDIR: temporary,
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  execFileSync("sha256sum", ["--check", "--quiet", "SHA256SUMS"], { cwd: out });
  const sums = readFileSync(join(out, "SHA256SUMS"), "utf8");
  rmSync(storage, { recursive: true, force: true });
  return sums;
}

test.skipIf(missing("a release built twice", imagePrograms, asked))(
  "two clones of one commit give a release with the same checksums",
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "plexus-twice-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    chmodSync(directory, 0o755);
    const [one, other] = [join(directory, "one"), join(directory, "in/another/directory")];
    mkdirSync(one);
    mkdirSync(other, { recursive: true });
    // As under /root: no other uid may enter.
    chmodSync(other, 0o700);
    // A commit that is made meanwhile has another time, and with it other digests.
    const commit = execFileSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" }).trim();
    const took: number[] = [];
    const sums: string[] = [];
    for (const [place, umask] of [
      [one, "022"],
      [other, "077"],
    ] as const) {
      const started = performance.now();
      sums.push(await release(place, commit, umask));
      took.push((performance.now() - started) / 1000);
    }
    process.stderr.write(`release: ${took.map((seconds) => `${seconds.toFixed(0)} s`).join(" and ")}\n${sums[0]}`);
    expect(sums[1]).toBe(sums[0]);
    const parts = ["plexus-cni-", ".krew.yaml", "-linux-amd64.tar.gz", ".spdx.json", ".tar\n", ".tgz"];
    for (const part of parts) expect(sums[0]).toContain(part);
    expect(readdirSync(join(one, "release"))).toContain("oci");
  },
  3_600_000,
);
