// The launcher is killed at every moment of its start and of its child's: nothing is left behind.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildLauncher } from "../../../../host/sandbox/launcher/build.ts";
import { canBecome } from "../../../../host/sandbox/launcher/jail.ts";
import { defaultUids } from "../../../../src/configuration/keys/sandbox-uids.ts";
import { compiledPlugin } from "../../../lab/compiled.ts";
import { missing, type Requirement } from "../../../lab/requires.ts";

const directory = mkdtempSync(join(tmpdir(), "plexus-killed-parent-"));
let launcher = "";
beforeAll(async () => {
  ({ path: launcher } = await buildLauncher({ outDir: directory }));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The capabilities of the chart's container: a launcher with CAP_KILL could kill any process. */
const chart = ["setpriv", "--bounding-set=-all,+setuid,+setgid", "--inh-caps=-all", "--no-new-privs"] as const;
const chartPrivileges: Requirement = () =>
  canBecome(defaultUids) && spawnSync(chart[0], [...chart.slice(1), "true"]).status === 0
    ? undefined
    : "this user may not change users";

/** The fate of the launcher's child, by the two numbers of stops (test/lab/plugins/bereave.c). */
function answersOf(stops: readonly (readonly [parent: number, child: number])[], command: readonly string[]): readonly string[] {
  const program = compiledPlugin("bereave");
  return stops.map(([parent, child]) => {
    const { stdout } = spawnSync(program, [String(parent), String(child), ...command], { encoding: "utf8" });
    return `${parent} ${child} ${stdout.trim()}`;
  });
}

const endless = 1_000_000;
/** The launcher is held early and the child goes on, and the reverse. The child has some 300 stops, most of them for its capabilities. */
const moments: readonly (readonly [number, number])[] = [
  ...Array.from({ length: 40 }, (_, at) => [at + 1, endless] as const),
  ...Array.from({ length: 40 }, (_, at) => [endless, 1 + at * 8] as const),
];

const jails: readonly (readonly [
  title: string,
  options: readonly string[],
  before: readonly string[],
  needs: readonly Requirement[],
])[] = [
  ["with another user and no namespaces, as in the chart's container", ["--uids", "20000:100"], chart, [chartPrivileges]],
  ["with this user and no namespaces", [], [], []],
  // CLONE_NEWUSER and CLONE_NEWNET: without a pid namespace, whose processes the kernel would end.
  ["in a user namespace", ["--namespaces", "50000000"], [], []],
];

describe.each(jails)("a sandbox process %s", (title, options, before, needs) => {
  test.skipIf(missing(title, ...needs))("FI-08: ends with its launcher, whenever that is killed", () => {
    const command = [...before, launcher, ...options, "--", "/bin/sleep", "1000"];
    const [first = "", ...rest] = command;
    const path = first.startsWith("/")
      ? first
      : spawnSync("sh", ["-c", `command -v ${first}`], { encoding: "utf8" }).stdout.trim();
    const answers = answersOf(moments, [path, ...rest]);
    expect(answers.filter((answer) => !/ (?:ended|over)$/u.test(answer))).toEqual([]);
    expect(answers.filter((answer) => answer.endsWith("ended")).length).toBeGreaterThan(10);
  });
});
