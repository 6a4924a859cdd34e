import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { callBinary, dist, missingBuild } from "../test/harness/plexus.ts";
import { missing } from "../test/harness/requires.ts";

/** How the hands start the brain. */
const flags = ["--disable-warning=ExperimentalWarning"];

const tryCache = `
const { readFileSync } = require("node:fs");
const { Script } = require("node:vm");
const [directory, name] = process.argv.slice(-2);
const source = readFileSync(directory + "/" + name, "latin1");
const cachedData = readFileSync(directory + "/" + source.slice(3, 19) + ".cache");
process.stdout.write(String(new Script(source, { cachedData }).cachedDataRejected));
`;

describe.skipIf(missing("the brain's code cache", missingBuild))("the one-shot brain's code cache", () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "plexus-home-"));
    for (const name of ["brain", "brain.cjs"]) cpSync(join(dist, name), join(home, name), { recursive: true });
    symlinkSync(join(dist, "bin"), join(home, "bin"));
  });
  afterEach(() => rmSync(home, { recursive: true }));

  const version = async (): Promise<unknown> => {
    const env = { PLEXUS_HOME: home, PLEXUS_SOCKET: join(home, "none") };
    const answer = await callBinary(join(dist, "plexus"), { verb: "VERSION", config: { cniVersion: "1.0.0" }, env }, home);
    return [answer.status, answer.stderr, answer.json?.["cniVersion"]];
  };

  test.each(["one-shot.js", "delegates.js"])("of %s is there, and the Node that is shipped takes it", (name) => {
    const tried = spawnSync(join(home, "bin", "node"), [...flags, "-e", tryCache, "--", join(home, "brain"), name], {
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
  ])("that is %s harms no call", async (_, spoil) => {
    const caches = readdirSync(join(home, "brain")).filter((name) => name.endsWith(".cache"));
    expect(caches).toHaveLength(2);
    for (const name of caches) spoil(join(home, "brain", name));
    expect(await version()).toEqual([0, "", "1.1.0"]);
  });
});
