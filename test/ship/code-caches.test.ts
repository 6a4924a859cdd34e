// V8's code caches that `plexusctl install` makes. A cache is code: V8 compares it with the length of its script only.

import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { cacheDirectory, digestLength, packedScripts } from "../../host/node/install/code-cache-names.ts";
import { dist, missingBuild } from "../lab/plexus.ts";
import { missing } from "../lab/requires.ts";

/** The flags with which the shim starts the engine. */
const flags = ["--disable-warning=ExperimentalWarning"];
const isRoot = process.getuid?.() === 0;

const isAccepted = `
const { readFileSync } = require("node:fs");
const [script, cache] = process.argv.slice(1);
const cachedData = readFileSync(cache);
process.stdout.write(String(!new (require("node:vm").Script)(readFileSync(script, "latin1"), { cachedData }).cachedDataRejected));
`;
const makeCache = `
const [script, cache] = process.argv.slice(1);
const source = require("node:fs").readFileSync(script, "latin1");
require("node:fs").writeFileSync(cache, new (require("node:vm").Script)(source).createCachedData());
`;

describe.skipIf(missing("plexusctl install", () => missingBuild()))("code caches of an installation", () => {
  let directory = "";
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "plexus-caches-"));
    // The directories of a node are open, and those of a test are not.
    chmodSync(directory, 0o755);
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const home = (): string => join(directory, "home");
  const engine = (): string => join(home(), "engine");
  const cacheOf = (name: string, code = engine()): string => {
    const digest = readFileSync(join(code, name), "latin1").slice(3, 3 + digestLength);
    return join(code, cacheDirectory, `${digest}.cache`);
  };
  const node = (...args: readonly string[]) =>
    spawnSync(join(home(), "bin/node"), [...flags, ...args], { env: {}, encoding: "utf8" });

  /** Installs, and answers the names of the scripts whose caches were made. */
  const install = (...more: readonly string[]): readonly string[] => {
    const args = [
      "install",
      "--home",
      home(),
      "--cni-bin",
      join(directory, "bin"),
      "--components",
      "none",
      "-o",
      "json",
      ...more,
    ];
    const { stdout, stderr } = spawnSync(process.execPath, [join(dist, "plexusctl.cjs"), ...args], { encoding: "utf8" });
    expect(stderr).toBe("");
    const { codeCaches } = JSON.parse(stdout) as {
      readonly codeCaches: { readonly written: readonly string[]; readonly failed: string | null };
    };
    expect(codeCaches.failed).toBe(null);
    return packedScripts.filter((name) =>
      codeCaches.written.some((path) => path.endsWith(cacheOf(name).split("/").at(-1) ?? "")),
    );
  };

  test("hold the functions of each script for the node's Node, and stay as they are", () => {
    expect(install()).toEqual(packedScripts);
    for (const name of packedScripts) {
      const cache = cacheOf(name);
      const { mode, uid, size } = statSync(cache);
      expect([name, mode & 0o777, uid]).toEqual([name, 0o644, process.getuid?.()]);
      // Without the functions a cache has a twentieth of the script's bytes.
      expect(size).toBeGreaterThan(statSync(join(engine(), name)).size);
      expect(node("-e", isAccepted, "--", join(engine(), name), cache).stdout).toBe("true");
    }
    expect(install()).toEqual([]);
  });

  test.each<[string, (cache: string) => void]>([
    ["is missing", (cache) => rmSync(cache)],
    ["is cut short", (cache) => truncateSync(cache, 1000)],
    ["is of another V8", (cache) => writeFileSync(cache, readFileSync(cache).fill(7, 0, 64))],
    ["may be written by others", (cache) => chmodSync(cache, 0o666)],
  ])("one that %s is made again, and the others stay", (_, spoil) => {
    install();
    spoil(cacheOf("delegates.js"));
    expect(install()).toEqual(["delegates.js"]);
    const { mode } = statSync(cacheOf("delegates.js"));
    expect(mode & 0o777).toBe(0o644);
    expect(node("-e", isAccepted, "--", join(engine(), "delegates.js"), cacheOf("delegates.js")).stdout).toBe("true");
  });

  test("--own-caches also makes that of sandbox processes for the release itself, without the other two", () => {
    const release = join(directory, "release");
    cpSync(dist, release, {
      recursive: true,
      filter: (path) => !/\/(?:test|cache|code-caches|types)$/u.test(path.slice(dist.length)),
    });
    install("--from", release, "--own-caches");
    const code = join(release, "engine");
    const size = (name: string): number | undefined => statSync(cacheOf(name, code), { throwIfNoEntry: false })?.size;
    expect(packedScripts.map((name) => [name, size(name) !== undefined])).toEqual([
      ["once.js", false],
      ["delegates.js", false],
      ["guest.js", true],
    ]);
  });

  /** Puts a cache of other code in the place of a script's own cache. V8 takes it, because both scripts have the same length. */
  const plant = (name: string): string => {
    const cache = cacheOf(name);
    const length = readFileSync(join(engine(), name), "latin1").length;
    const planted = join(directory, "planted.js");
    writeFileSync(planted, `process.getBuiltinModule("node:fs").writeSync(2, "planted"); process.exit(3);`.padEnd(length));
    writeFileSync(cache, "");
    expect(node("-e", makeCache, "--", planted, cache).stderr).toBe("");
    chmodSync(cache, 0o644);
    return cache;
  };
  const oneShot = () => node(join(home(), "plexusd.cjs"), "--once");
  const guest = () =>
    spawnSync(join(home(), "bin/node"), [...flags, join(engine(), "guest-process.cjs"), "256", "1000"], { env: {}, input: "" });
  const programs: readonly (readonly [string, () => { readonly status: number | null; readonly stderr: string | Buffer }])[] = [
    ["once.js", oneShot],
    ["guest.js", guest],
  ];

  test.each(programs)(
    "%s: other code in the cache of the script's user runs, which shows that the next tests can fail",
    (name, run) => {
      install();
      plant(name);
      const { status, stderr } = run();
      expect([status, String(stderr)]).toEqual([3, "planted"]);
    },
  );

  test.each(programs)("%s: a cache that others may write is not used", (name, run) => {
    install();
    for (const mode of [0o664, 0o646]) {
      chmodSync(plant(name), mode);
      expect(String(run().stderr)).not.toContain("planted");
    }
  });

  test.skipIf(!isRoot).each(programs)("%s: a cache of another user is not used", (name, run) => {
    install();
    chownSync(plant(name), 12_345, 12_345);
    expect(String(run().stderr)).not.toContain("planted");
  });
});
