// The npm package, installed from its archive into an empty directory, without a registry.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeNpmPackage, stageNpmPackage } from "../../scripts/release/npm-package.ts";
import { version } from "../../host/system/version.ts";
import { root } from "../lab/compiled.ts";
import { dist, missingBuild } from "../lab/plexus.ts";
import { missing } from "../lab/requires.ts";

function missingNpm(): string | undefined {
  return spawnSync("npm", ["--version"]).status === 0 ? undefined : "npm is missing";
}

describe.skipIf(missing("the npm package", () => missingBuild(), missingNpm))("the npm package", () => {
  let directory: string;
  let archive: string;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "plexus-npm-"));
    const repository = "git+https://example.invalid/plexus.git";
    archive = await makeNpmPackage({ root, build: dist, outDir: join(directory, "out"), repository });
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test("publint finds nothing", () => {
    const staged = join(directory, "staged");
    mkdirSync(staged);
    stageNpmPackage(root, dist, staged, "git+https://example.invalid/plexus.git");
    const { status, stdout } = spawnSync(process.execPath, [join(root, "node_modules/publint/src/cli.js"), "--strict", staged], {
      encoding: "utf8",
    });
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining("All good!") });
  });

  test("a second archive of the same build has the same bytes", async () => {
    const again = await makeNpmPackage({
      root,
      build: dist,
      outDir: join(directory, "again"),
      repository: "git+https://example.invalid/plexus.git",
    });
    expect(readFileSync(again).equals(readFileSync(archive))).toBe(true);
  });

  test("npx plexusctl works in an empty directory", () => {
    const empty = join(directory, "empty");
    mkdirSync(empty);
    const npm = ["install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", archive];
    // The optional packages with Node are only in npm's cache if it has them: the package must install without them.
    execFileSync("npm", npm, {
      cwd: empty,
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, npm_config_cache: join(directory, "cache") },
    });
    expect(readdirSync(join(empty, "node_modules", "plexus-cni")).toSorted()).toEqual([
      "LICENSE",
      "README.md",
      "dist",
      "package.json",
      "systemd",
    ]);
    const npx = (...args: readonly string[]) => {
      const path = `${dirname(process.execPath)}:${process.env["PATH"]}`;
      // npm sets npm_config_* for its scripts, and warns of those that it no longer knows.
      const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("npm_"));
      const { status, stdout, stderr } = spawnSync("npx", ["--offline", ...args], {
        cwd: empty,
        encoding: "utf8",
        env: {
          ...Object.fromEntries(inherited),
          PATH: path,
          npm_config_cache: join(directory, "cache"),
          npm_config_userconfig: "/dev/null",
          npm_config_update_notifier: "false",
        },
      });
      return { status, stdout, stderr };
    };
    expect(npx("plexusctl", "--version")).toEqual({ status: 0, stdout: `${version}\n`, stderr: "" });
    expect(npx("kubectl-plexus", "--help")).toMatchObject({ status: 0, stdout: expect.stringContaining("kubectl plexus") });
    expect(npx("kubectl_complete-plexus", "pro")).toMatchObject({ status: 0, stdout: "probe\n:4\n" });
    const [home, bin] = [join(directory, "node/opt/plexus"), join(directory, "node/opt/cni/bin")];
    const installed = npx("plexusctl", "install", "--home", home, "--cni-bin", bin, "-o", "json");
    expect([installed.status, installed.stderr]).toEqual([0, ""]);
    expect(JSON.parse(installed.stdout)).toMatchObject({ tried: { shim: version, node: process.version } });
    expect(spawnSync(join(home, "bin/plexusctl"), ["version"], { encoding: "utf8" }).stdout).toBe(`${version}\n`);
  });
});
