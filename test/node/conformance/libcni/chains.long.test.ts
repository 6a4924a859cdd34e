// Compares Plexus' chains with Go's libcni: both run the same scenario, and the test compares everything that a plugin
// or a runtime can observe.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { missing } from "../../../lab/requires.ts";
import { pluginMessages } from "./messages.ts";
import { askOracle, missingOracle, type OracleAnswer, type OracleOperation, type OracleRuntime } from "./oracle.ts";
import { runOnPlexus, type PlexusAnswer, type Workspace } from "./plexus-chains.ts";
import {
  createWorkspace,
  withoutEmptyMembers,
  parsedConfigs,
  observedCache,
  observedCalls,
  type RecorderWorkspace,
} from "./workspaces.ts";
import { defaultRuntime, textOf, type Operation, type Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";

function oracleNetwork(scenario: Scenario, workspace: Workspace): Partial<OracleOperation> {
  const { network } = scenario;
  if ("list" in network) return { list: textOf(network.list) };
  if ("conf" in network) return { conf: textOf(network.conf) };
  return { file: join(workspace.confDir, Object.keys(network.files)[0] ?? "") };
}

function runtimeOf(scenario: Scenario, operation: Operation): OracleRuntime {
  return { ...defaultRuntime, ...scenario.runtime, ...operation.runtime };
}

function runOnLibcni(scenario: Scenario, workspace: RecorderWorkspace): readonly OracleAnswer[] {
  const network = oracleNetwork(scenario, workspace);
  const operations = scenario.operations.map((operation) => ({
    ...network,
    do: operation.do,
    runtime: runtimeOf(scenario, operation),
    ...(operation.valid === undefined ? {} : { valid: operation.valid }),
  }));
  return askOracle([workspace.cniPath], workspace.cacheDir, operations);
}

/** Both answers in one form. Plexus' answer takes libcni's code and messages if its text contains those messages. */
function comparable(
  plexusAnswers: PlexusAnswer,
  libcniAnswers: OracleAnswer,
  workspace: Workspace,
): readonly [plexusAnswers: unknown, libcniAnswers: unknown] {
  const libcniAnswer =
    libcniAnswers.error === undefined
      ? { result: withoutEmptyMembers(libcniAnswers.result) }
      : { code: libcniAnswers.error.code, messages: pluginMessages(libcniAnswers) };
  if ("result" in plexusAnswers) return [{ result: withoutEmptyMembers(plexusAnswers.result) }, libcniAnswer];
  const text = `${plexusAnswers.fault.msg}; ${plexusAnswers.fault.details ?? ""}`.replaceAll(workspace.cniPath, "BIN");
  // libcni's own failures have no code to compare with.
  const code = libcniAnswers.error?.code === 0 ? 0 : plexusAnswers.fault.code;
  return [{ code, messages: pluginMessages(libcniAnswers).map((line) => (text.includes(line) ? line : text)) }, libcniAnswer];
}

function inputs(workspace: RecorderWorkspace): readonly string[] {
  return workspace.recorders.flatMap((recorder) => recorder.calls()).map((call) => call.stdin);
}

describe.skipIf(missing("chains compared with libcni", missingOracle))("chains compared with libcni", () => {
  let directory = "";
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "plexus-libcni-"));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test("there are at least 40 scenarios with different titles", () => {
    expect(scenarios.length).toBeGreaterThanOrEqual(40);
    expect(new Set(scenarios.map((scenario) => scenario.title)).size).toBe(scenarios.length);
  });

  test.each(scenarios)("$title", (scenario) => {
    const plexusWorkspace = createWorkspace(scenario, directory);
    const libcniWorkspace = createWorkspace(scenario, directory);
    const plexusAnswers = runOnPlexus(scenario, plexusWorkspace);
    const libcniAnswers = runOnLibcni(scenario, libcniWorkspace);
    const answers = libcniAnswers.map((answer, i) =>
      comparable(plexusAnswers[i] ?? { result: "no answer" }, answer, plexusWorkspace),
    );
    expect(answers.map(([plexusAnswer]) => plexusAnswer)).toEqual(answers.map(([, libcniAnswer]) => libcniAnswer));
    expect(observedCalls(plexusWorkspace)).toEqual(observedCalls(libcniWorkspace));
    expect(observedCache(plexusWorkspace)).toEqual(observedCache(libcniWorkspace));
  });

  const cached = scenarios.filter((scenario) => scenario.operations[0]?.do === "ADD" && !("files" in scenario.network));

  /** Both workspaces after the scenario's first ADD; undefined if the ADD fails. */
  function afterAdd(
    scenario: Scenario,
  ):
    | { readonly plexusWorkspace: RecorderWorkspace; readonly libcniWorkspace: RecorderWorkspace; readonly addOnly: Scenario }
    | undefined {
    const addOnly = { ...scenario, operations: scenario.operations.slice(0, 1) };
    const plexusWorkspace = createWorkspace(addOnly, directory);
    const libcniWorkspace = createWorkspace(addOnly, directory);
    const [plexusAnswer] = runOnPlexus(addOnly, plexusWorkspace);
    runOnLibcni(addOnly, libcniWorkspace);
    return plexusAnswer !== undefined && "result" in plexusAnswer ? { plexusWorkspace, libcniWorkspace, addOnly } : undefined;
  }

  test("L-32, L-35: Go's libcni reads the same from Plexus' cache as from its own", () => {
    let compared = 0;
    for (const scenario of cached) {
      const workspaces = afterAdd(scenario);
      const [operation] = scenario.operations;
      if (workspaces === undefined || operation === undefined) continue;
      compared++;
      const network = oracleNetwork(scenario, workspaces.plexusWorkspace);
      const runtime = runtimeOf(scenario, operation);
      const operations = ["CACHED-RESULT", "CACHED-CONFIG", "CACHED-ATTACHMENTS"].map((name) => ({
        ...network,
        do: name,
        runtime,
      }));
      const fromPlexusCache = askOracle([workspaces.plexusWorkspace.cniPath], workspaces.plexusWorkspace.cacheDir, operations);
      const fromLibcniCache = askOracle([workspaces.libcniWorkspace.cniPath], workspaces.libcniWorkspace.cacheDir, operations);
      expect(parsedConfigs(withoutEmptyMembers(fromPlexusCache))).toEqual(parsedConfigs(withoutEmptyMembers(fromLibcniCache)));
      expect(fromPlexusCache.every((answer) => answer.error === undefined && answer.result !== undefined)).toBe(true);
    }
    expect(compared).toBeGreaterThanOrEqual(30);
  });

  test("L-32: Plexus and libcni each remove the other's attachments, with the same calls", () => {
    let compared = 0;
    for (const scenario of cached.filter((each) => each.operations.some((operation) => operation.do === "DEL"))) {
      const workspaces = afterAdd(scenario);
      if (workspaces === undefined) continue;
      compared++;
      const removing = { ...scenario, operations: [{ do: "DEL" as const }] };
      const { plexusWorkspace, libcniWorkspace } = workspaces;
      for (const recorder of [...plexusWorkspace.recorders, ...libcniWorkspace.recorders]) recorder.clear();
      runOnPlexus(removing, { ...libcniWorkspace, confDir: plexusWorkspace.confDir });
      runOnLibcni(removing, plexusWorkspace);
      expect(observedCalls(libcniWorkspace)).toEqual(observedCalls(plexusWorkspace));
      expect(observedCache(libcniWorkspace)).toEqual(observedCache(plexusWorkspace));
    }
    expect(compared).toBeGreaterThanOrEqual(30);
  });

  test("L-19, L-30: Plexus' chain keeps numbers above 2^53 and unknown members of results; libcni's chain loses them", () => {
    const list =
      '{"cniVersion":"1.0.0","name":"net-a","plugins":[{"type":"one","id":18446744073709551615,"z":1.0e2,"a":1},{"type":"two"}]}';
    const result = '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.2/24","vrf":9007199254740993}],"x.example/y":{"z":-0.0}}';
    const scenario: Scenario = {
      title: "",
      network: { list },
      plugins: { one: [{ verb: "ADD", stdout: result }], two: [] },
      operations: [{ do: "ADD" }],
    };
    const plexusWorkspace = createWorkspace(scenario, directory);
    const libcniWorkspace = createWorkspace(scenario, directory);
    runOnPlexus(scenario, plexusWorkspace);
    runOnLibcni(scenario, libcniWorkspace);
    expect(inputs(plexusWorkspace)).toEqual([
      '{"type":"one","id":18446744073709551615,"z":1.0e2,"a":1,"cniVersion":"1.0.0","name":"net-a"}',
      `{"type":"two","cniVersion":"1.0.0","name":"net-a","prevResult":${result}}`,
    ]);
    expect(inputs(libcniWorkspace).join("")).not.toMatch(/18446744073709551615|9007199254740993|x\.example/);
  });
});
