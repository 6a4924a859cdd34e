import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { cacheDirectory } from "../../host/node/install/code-cache-names.ts";
import { callBinary, dist, missingBuild } from "../lab/plexus.ts";
import { missing } from "../lab/requires.ts";

/** The flags with which the shim starts the engine. */
const flags = ["--disable-warning=ExperimentalWarning"];

const tryCache = `
const { readFileSync } = require("node:fs");
const { Script } = require("node:vm");
const [directory, name] = process.argv.slice(-2);
const source = readFileSync(directory + "/" + name, "latin1");
const cachedData = readFileSync(directory + "/code-caches/" + source.slice(3, 19) + ".cache");
process.stdout.write(String(new Script(source, { cachedData }).cachedDataRejected));
`;

/** Other tests write engine/cache at the same time. */
const isBuilt = (path: string): boolean => !path.startsWith(join(dist, "engine", "cache"));

describe.skipIf(missing("the engine's code cache", missingBuild))("the one-shot engine's code cache", () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "plexus-home-"));
    for (const name of ["engine", "plexusd.cjs"])
      cpSync(join(dist, name), join(home, name), { recursive: true, filter: isBuilt });
    symlinkSync(join(dist, "bin"), join(home, "bin"));
  });
  afterEach(() => rmSync(home, { recursive: true }));

  const version = async (): Promise<unknown> => {
    const env = { PLEXUS_HOME: home, PLEXUS_SOCKET: join(home, "none") };
    // In the usual directory other tests may have as many one-shot engines as run at once.
    const config = { cniVersion: "1.0.0", runDir: join(home, "run") };
    const answer = await callBinary(join(dist, "plexus"), { verb: "VERSION", config, env }, home);
    // A failure shows its message.
    return [answer.status, answer.stderr, answer.json?.["msg"], answer.json?.["cniVersion"]];
  };

  test.each(["once.js", "delegates.js", "guest.js"])("exists for %s, and the installed Node accepts it", (name) => {
    const tried = spawnSync(join(home, "bin", "node"), [...flags, "-e", tryCache, "--", join(home, "engine"), name], {
      env: {},
      encoding: "utf8",
    });
    expect([tried.stdout, tried.stderr]).toEqual(["false", ""]);
  });

  test.each<[string, (path: string) => void]>([
    ["missing", (path) => rmSync(path)],
    ["cut short", (path) => truncateSync(path, 100_000)],
    ["empty", (path) => truncateSync(path, 0)],
    ["another version's", (path) => writeFileSync(path, readFileSync(path).fill(7, 0, 64))],
  ])("that is %s makes no call fail", async (_, spoil) => {
    const caches = readdirSync(join(home, "engine", cacheDirectory));
    expect(caches).toHaveLength(3);
    for (const name of caches) spoil(join(home, "engine", cacheDirectory, name));
    expect(await version()).toEqual([0, "", undefined, "1.1.0"]);
  });

  test("runs an engine that refuses to serve a user who starts it: descriptor 3 is no socket", () => {
    const { status, stderr } = spawnSync(join(home, "bin", "node"), [...flags, join(home, "plexusd.cjs"), "--once"], {
      env: {},
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([2, "plexusd --once: file descriptor 3 is no socket: only the shim starts plexusd so\n"]);
  });
});
