// Our chains beside Go's libcni: the same scenario on both sides, and all that a plugin or a runtime can see compared.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { missing } from "../../harness/requires.ts";
import { passedOn } from "./messages.ts";
import { askOracle, whyNoOracle, type OracleAnswer, type OracleOperation, type OracleRuntime } from "./oracle.ts";
import { runOurs, type OurAnswer, type Room } from "./ours.ts";
import { furnish, meaningful, parsedConfigs, observedCache, observedCalls, type FurnishedRoom } from "./rooms.ts";
import { defaultRuntime, textOf, type Operation, type Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";

function oracleNetwork(scenario: Scenario, room: Room): Partial<OracleOperation> {
  const { network } = scenario;
  if ("list" in network) return { list: textOf(network.list) };
  if ("conf" in network) return { conf: textOf(network.conf) };
  return { file: join(room.confDir, Object.keys(network.files)[0] ?? "") };
}

function runtimeOf(scenario: Scenario, operation: Operation): OracleRuntime {
  return { ...defaultRuntime, ...scenario.runtime, ...operation.runtime };
}

function runTheirs(scenario: Scenario, room: FurnishedRoom): readonly OracleAnswer[] {
  const network = oracleNetwork(scenario, room);
  const operations = scenario.operations.map((operation) => ({
    ...network,
    do: operation.do,
    runtime: runtimeOf(scenario, operation),
    ...(operation.valid === undefined ? {} : { valid: operation.valid }),
  }));
  return askOracle([room.cniPath], room.cacheDir, operations);
}

/** Both answers in one form; ours has libcni's code and messages put in where it says at least the same. */
function comparable(ours: OurAnswer, theirs: OracleAnswer, room: Room): readonly [ours: unknown, theirs: unknown] {
  const their =
    theirs.error === undefined ? { result: meaningful(theirs.result) } : { code: theirs.error.code, messages: passedOn(theirs) };
  if ("result" in ours) return [{ result: meaningful(ours.result) }, their];
  const text = `${ours.fault.msg}; ${ours.fault.details ?? ""}`.replaceAll(room.cniPath, "BIN");
  // libcni's own failures have no code, so there is none to compare with.
  const code = theirs.error?.code === 0 ? 0 : ours.fault.code;
  return [{ code, messages: passedOn(theirs).map((line) => (text.includes(line) ? line : text)) }, their];
}

function inputs(room: FurnishedRoom): readonly string[] {
  return room.recorders.flatMap((recorder) => recorder.calls()).map((call) => call.stdin);
}

describe.skipIf(missing("chains beside libcni", whyNoOracle))("chains beside libcni", () => {
  let directory = "";
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "plexus-libcni-"));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test("there are at least 40 scenarios, each with a title of its own", () => {
    expect(scenarios.length).toBeGreaterThanOrEqual(40);
    expect(new Set(scenarios.map((scenario) => scenario.title)).size).toBe(scenarios.length);
  });

  test.each(scenarios)("$title", (scenario) => {
    const mine = furnish(scenario, directory);
    const other = furnish(scenario, directory);
    const ours = runOurs(scenario, mine);
    const theirs = runTheirs(scenario, other);
    const answers = theirs.map((answer, i) => comparable(ours[i] ?? { result: "no answer" }, answer, mine));
    expect(answers.map(([our]) => our)).toEqual(answers.map(([, their]) => their));
    expect(observedCalls(mine)).toEqual(observedCalls(other));
    expect(observedCache(mine)).toEqual(observedCache(other));
  });

  const cached = scenarios.filter((scenario) => scenario.operations[0]?.do === "ADD" && !("files" in scenario.network));

  /** What both sides leave behind after the scenario's first ADD; undefined where it fails. */
  function added(
    scenario: Scenario,
  ): { readonly mine: FurnishedRoom; readonly other: FurnishedRoom; readonly once: Scenario } | undefined {
    const once = { ...scenario, operations: scenario.operations.slice(0, 1) };
    const mine = furnish(once, directory);
    const other = furnish(once, directory);
    const [our] = runOurs(once, mine);
    runTheirs(once, other);
    return our !== undefined && "result" in our ? { mine, other, once } : undefined;
  }

  test("L-32, L-35: Go's libcni reads from our cache what it reads from its own", () => {
    let compared = 0;
    for (const scenario of cached) {
      const rooms = added(scenario);
      const [operation] = scenario.operations;
      if (rooms === undefined || operation === undefined) continue;
      compared++;
      const network = oracleNetwork(scenario, rooms.mine);
      const runtime = runtimeOf(scenario, operation);
      const operations = ["CACHED-RESULT", "CACHED-CONFIG", "CACHED-ATTACHMENTS"].map((name) => ({
        ...network,
        do: name,
        runtime,
      }));
      const fromOurs = askOracle([rooms.mine.cniPath], rooms.mine.cacheDir, operations);
      const fromTheirs = askOracle([rooms.other.cniPath], rooms.other.cacheDir, operations);
      expect(parsedConfigs(meaningful(fromOurs))).toEqual(parsedConfigs(meaningful(fromTheirs)));
      expect(fromOurs.every((answer) => answer.error === undefined && answer.result !== undefined)).toBe(true);
    }
    expect(compared).toBeGreaterThanOrEqual(30);
  });

  test("L-32: what either side added, the other removes, with the same calls", () => {
    let compared = 0;
    for (const scenario of cached.filter((each) => each.operations.some((operation) => operation.do === "DEL"))) {
      const rooms = added(scenario);
      if (rooms === undefined) continue;
      compared++;
      const removing = { ...scenario, operations: [{ do: "DEL" as const }] };
      const { mine, other } = rooms;
      for (const recorder of [...mine.recorders, ...other.recorders]) recorder.clear();
      runOurs(removing, { ...other, confDir: mine.confDir });
      runTheirs(removing, mine);
      expect(observedCalls(other)).toEqual(observedCalls(mine));
      expect(observedCache(other)).toEqual(observedCache(mine));
    }
    expect(compared).toBeGreaterThanOrEqual(30);
  });

  test("L-19, L-30: numbers above 2^53 and members of results that no version knows survive our chain; libcni's loses them", () => {
    const list =
      '{"cniVersion":"1.0.0","name":"net-a","plugins":[{"type":"one","id":18446744073709551615,"z":1.0e2,"a":1},{"type":"two"}]}';
    const result = '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.2/24","vrf":9007199254740993}],"x.example/y":{"z":-0.0}}';
    const scenario: Scenario = {
      title: "",
      network: { list },
      plugins: { one: [{ verb: "ADD", stdout: result }], two: [] },
      operations: [{ do: "ADD" }],
    };
    const mine = furnish(scenario, directory);
    const other = furnish(scenario, directory);
    runOurs(scenario, mine);
    runTheirs(scenario, other);
    expect(inputs(mine)).toEqual([
      '{"type":"one","id":18446744073709551615,"z":1.0e2,"a":1,"cniVersion":"1.0.0","name":"net-a"}',
      `{"type":"two","cniVersion":"1.0.0","name":"net-a","prevResult":${result}}`,
    ]);
    expect(inputs(other).join("")).not.toMatch(/18446744073709551615|9007199254740993|x\.example/);
  });
});
