// Compares the installed binary with Go's libcni. Each scenario's list is the inline default network of a Plexus
// configuration. The plugins must receive the same calls as from libcni, and the runtime must get libcni's answer.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { installPlexus, type Answer, type Installation } from "../../../lab/plexus.ts";
import { missing, privateNamespaces } from "../../../lab/requires.ts";
import { pluginMessages } from "./messages.ts";
import { askOracle, missingOracle, type OracleAnswer, type OracleRuntime } from "./oracle.ts";
import { inheritedPath } from "./plexus-chains.ts";
import { createWorkspace, withoutEmptyMembers, observedCache, observedCalls, type RecorderWorkspace } from "./workspaces.ts";
import { defaultRuntime, textOf, type Operation, type Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";

/** The cniVersion between the runtime and Plexus: it has every verb, whatever the network's version is. */
const outerVersion = "1.1.0";

/**
 * The reasons of deliberate differences, by the scenario's title. Plexus, as a plugin, refuses some calls that libcni, as
 * a caller, allows; and a CHECK without an ADD is an error.
 */
const deliberateDifferences = new Map<string, string>([
  [
    "L-39: ADD of a list whose second plugin is not installed runs the first",
    "refused before the first step: a missing plugin could not undo its step (bad-input: L-08)",
  ],
  ["L-41: CHECK without a cached result has no prevResult", "no attachment was added: code 3"],
  [
    "L-16: a list without cniVersion has 0.1.0",
    "a delegate without a version gets the version of Plexus' configuration (NPWG 7.1)",
  ],
]);

function isCompared(scenario: Scenario): boolean {
  const asksRuntime = scenario.operations.every((operation) => operation.do !== "VALIDATE");
  return (
    "list" in scenario.network &&
    asksRuntime &&
    scenario.runtime?.containerID === undefined &&
    scenario.runtime?.ifname === undefined &&
    !deliberateDifferences.has(scenario.title)
  );
}

/** Whether the network's version precedes 0.3.0: Plexus calls VERSION of each plugin before the first step of such an ADD. */
function precedesChains({ network, operations }: Scenario): boolean {
  const list = "list" in network ? (JSON.parse(textOf(network.list)) as { readonly cniVersion?: unknown }) : {};
  return ["0.1.0", "0.2.0"].includes(String(list.cniVersion)) && operations.some(({ do: verb }) => verb === "ADD");
}

function runtimeOf(scenario: Scenario, operation: Operation): OracleRuntime {
  return { ...defaultRuntime, ...scenario.runtime, ...operation.runtime };
}

function argsText(runtime: OracleRuntime): string | undefined {
  return runtime.args?.map((pair) => pair.join("=")).join(";");
}

interface Expected {
  readonly operation: Operation;
  readonly answer: OracleAnswer;
}

function ask(scenario: Scenario, workspace: RecorderWorkspace, operations: readonly Operation[]): readonly OracleAnswer[] {
  const list = "list" in scenario.network ? textOf(scenario.network.list) : "";
  const requests = operations.map((operation) => ({
    do: operation.do,
    list,
    runtime: runtimeOf(scenario, operation),
    ...(operation.valid === undefined ? {} : { valid: operation.valid }),
  }));
  return askOracle([workspace.cniPath], workspace.cacheDir, requests);
}

/**
 * libcni's calls and answers. After a failed ADD the scenario calls DEL, as Plexus does itself, and no CHECK. Results are
 * in `outerVersion`.
 */
function runOnLibcni(
  scenario: Scenario,
  parent: string,
): { readonly workspace: RecorderWorkspace; readonly expected: readonly Expected[] } {
  let workspace = createWorkspace(scenario, parent);
  let operations = scenario.operations;
  let answers = ask(scenario, workspace, operations);
  const failedAdd = operations.findIndex((operation, i) => operation.do === "ADD" && answers[i]?.error !== undefined);
  if (failedAdd >= 0) {
    workspace = createWorkspace(scenario, parent);
    const after = operations.slice(failedAdd + 1).filter((operation) => operation.do !== "CHECK");
    operations = [...operations.slice(0, failedAdd + 1), { do: "DEL" }, ...after];
    answers = ask(scenario, workspace, operations);
  }
  const texts = answers.map((answer) => JSON.stringify(answer.result ?? {}));
  const converted = askOracle(
    [],
    "",
    texts.map((value) => ({ do: "CONVERT", value, version: outerVersion })),
  );
  const expected = operations.map((operation, i) => {
    const answer = answers[i] ?? {};
    return { operation, answer: operation.do === "ADD" && answer.error === undefined ? (converted[i] ?? {}) : answer };
  });
  return { workspace, expected: failedAdd >= 0 ? expected.toSpliced(failedAdd + 1, 1) : expected };
}

/** Both answers in one form. */
function comparable(plexusAnswer: Answer, libcniAnswer: OracleAnswer): readonly [plexusAnswer: unknown, libcniAnswer: unknown] {
  if (libcniAnswer.error === undefined) {
    return [
      { status: plexusAnswer.status, result: plexusAnswer.stdout === "" ? undefined : withoutEmptyMembers(plexusAnswer.json) },
      { status: 0, result: withoutEmptyMembers(libcniAnswer.result) },
    ];
  }
  const lines = pluginMessages(libcniAnswer);
  const text = `${String(plexusAnswer.json?.["msg"])}; ${String(plexusAnswer.json?.["details"])}`;
  return [
    {
      failed: plexusAnswer.status !== 0,
      code: libcniAnswer.error.code === 0 ? 0 : plexusAnswer.json?.["code"],
      messages: lines.map((line) => (text.includes(line) ? line : text)),
    },
    { failed: true, code: libcniAnswer.error.code, messages: lines },
  ];
}

describe.skipIf(missing("the installed binary compared with libcni", privateNamespaces, missingOracle))(
  "the installed binary compared with libcni",
  () => {
    let plexus: Installation;
    let directory = "";
    beforeAll(() => {
      plexus = installPlexus();
      directory = mkdtempSync(join(tmpdir(), "plexus-installed-"));
    });
    afterAll(() => {
      plexus.dispose();
      rmSync(directory, { recursive: true, force: true });
    });

    /** Calls the installed binary as a runtime does. */
    function callPlexus(
      scenario: Scenario,
      operation: Operation,
      runtime: OracleRuntime,
      workspace: RecorderWorkspace,
    ): Promise<Answer> {
      const list: unknown = "list" in scenario.network ? scenario.network.list : undefined;
      const isAttachmentVerb = operation.do !== "GC" && operation.do !== "STATUS";
      const args = argsText(runtime);
      return plexus.call({
        verb: operation.do,
        cniPath: workspace.cniPath,
        env: { PATH: inheritedPath },
        ...(isAttachmentVerb ? { containerId: runtime.containerID, ifname: runtime.ifname, netns: runtime.netns } : {}),
        ...(isAttachmentVerb && args !== undefined ? { args } : {}),
        config: {
          cniVersion: outerVersion,
          name: "outer",
          type: "plexus",
          cniDir: workspace.cacheDir,
          runDir: join(workspace.cacheDir, "run"),
          delegates: [list],
          ...(isAttachmentVerb && runtime.capabilityArgs !== undefined ? { runtimeConfig: runtime.capabilityArgs } : {}),
          ...(operation.valid === undefined ? {} : { "cni.dev/valid-attachments": operation.valid }),
        },
      });
    }

    const chosen = scenarios.filter(isCompared);

    test("at least 40 scenarios are compared", () => {
      expect(chosen.length).toBeGreaterThanOrEqual(40);
    });

    test.each(chosen)("$title", async (scenario) => {
      const plexusWorkspace = createWorkspace(scenario, directory);
      const { workspace: libcniWorkspace, expected } = runOnLibcni(scenario, directory);
      const answers: (readonly [plexusAnswer: unknown, libcniAnswer: unknown])[] = [];
      for (const { operation, answer } of expected) {
        answers.push(comparable(await callPlexus(scenario, operation, runtimeOf(scenario, operation), plexusWorkspace), answer));
      }
      expect(answers.map(([plexusAnswer]) => plexusAnswer)).toEqual(answers.map(([, libcniAnswer]) => libcniAnswer));
      // Plexus adds only GOMAXPROCS, from the configuration key goMaxProcs. The socket is in the environment of the runtime's call.
      const more = { GOMAXPROCS: "1", PLEXUS_SOCKET: process.env["PLEXUS_TEST_SOCKET"] };
      const callsOfLibcni = observedCalls(libcniWorkspace).map((call) => ({ ...call, env: { ...call.env, ...more } }));
      const calls = observedCalls(plexusWorkspace);
      const versionRequests = calls.filter(({ env }) => env["CNI_COMMAND"] === "VERSION");
      expect(calls.slice(versionRequests.length)).toEqual(callsOfLibcni);
      expect(versionRequests.length > 0).toBe(precedesChains(scenario));
      expect(observedCache(plexusWorkspace)).toEqual(observedCache(libcniWorkspace));
    });
  },
);
