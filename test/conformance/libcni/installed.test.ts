// The installed binary beside Go's libcni: the scenarios again, each list as the inline default network of a Plexus
// configuration. The plugins must see what they would see from libcni, and the runtime must get libcni's answer.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { installPlexus, type Answer, type Installation } from "../../harness/plexus.ts";
import { missing, privateNamespaces } from "../../harness/requires.ts";
import { passedOn } from "./messages.ts";
import { askOracle, whyNoOracle, type OracleAnswer, type OracleRuntime } from "./oracle.ts";
import { inheritedPath } from "./ours.ts";
import { furnish, meaningful, observedCache, observedCalls, type FurnishedRoom } from "./rooms.ts";
import { defaultRuntime, textOf, type Operation, type Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";

/** What the runtime speaks with Plexus: every verb is in it, whatever the network's own version is. */
const outerVersion = "1.1.0";

/**
 * Where Plexus differs on purpose, by title. The plugin side refuses what libcni as a caller lets through, and a CHECK
 * without an ADD is an error.
 */
const differing = new Map<string, string>([
  [
    "L-39: ADD of a list whose second plugin is not installed runs the first",
    "refused before anything runs: what was begun could not be undone (bad-input: L-08)",
  ],
  ["L-41: CHECK without a cached result has no prevResult", "nothing was added: code 3"],
  ["L-16: without cniVersion a list is 0.1.0", "a delegate without a version gets that of Plexus' own configuration (NPWG 7.1)"],
]);

function compared(scenario: Scenario): boolean {
  const asksRuntime = scenario.operations.every((operation) => operation.do !== "VALIDATE");
  return (
    "list" in scenario.network &&
    asksRuntime &&
    scenario.runtime?.containerID === undefined &&
    scenario.runtime?.ifname === undefined &&
    !differing.has(scenario.title)
  );
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

function ask(scenario: Scenario, room: FurnishedRoom, operations: readonly Operation[]): readonly OracleAnswer[] {
  const list = "list" in scenario.network ? textOf(scenario.network.list) : "";
  const asked = operations.map((operation) => ({
    do: operation.do,
    list,
    runtime: runtimeOf(scenario, operation),
    ...(operation.valid === undefined ? {} : { valid: operation.valid }),
  }));
  return askOracle([room.cniPath], room.cacheDir, asked);
}

/**
 * What libcni does, called as its caller should: a failed ADD is followed by a DEL, which Plexus does itself, and by no
 * CHECK. Results are in the version that the runtime speaks with Plexus.
 */
function theirs(scenario: Scenario, parent: string): { readonly room: FurnishedRoom; readonly expected: readonly Expected[] } {
  let room = furnish(scenario, parent);
  let operations = scenario.operations;
  let answers = ask(scenario, room, operations);
  const failedAdd = operations.findIndex((operation, i) => operation.do === "ADD" && answers[i]?.error !== undefined);
  if (failedAdd >= 0) {
    room = furnish(scenario, parent);
    const after = operations.slice(failedAdd + 1).filter((operation) => operation.do !== "CHECK");
    operations = [...operations.slice(0, failedAdd + 1), { do: "DEL" }, ...after];
    answers = ask(scenario, room, operations);
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
  return { room, expected: failedAdd >= 0 ? expected.toSpliced(failedAdd + 1, 1) : expected };
}

/** Both answers in one form. */
function comparable(our: Answer, their: OracleAnswer): readonly [our: unknown, their: unknown] {
  if (their.error === undefined) {
    return [
      { status: our.status, result: our.stdout === "" ? undefined : meaningful(our.json) },
      { status: 0, result: meaningful(their.result) },
    ];
  }
  const lines = passedOn(their);
  const text = `${String(our.json?.["msg"])}; ${String(our.json?.["details"])}`;
  return [
    {
      failed: our.status !== 0,
      code: their.error.code === 0 ? 0 : our.json?.["code"],
      messages: lines.map((line) => (text.includes(line) ? line : text)),
    },
    { failed: true, code: their.error.code, messages: lines },
  ];
}

describe.skipIf(missing("the installed binary beside libcni", privateNamespaces, whyNoOracle))(
  "the installed binary beside libcni",
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

    /** One operation of ours: what a runtime sends. */
    function ours(scenario: Scenario, operation: Operation, runtime: OracleRuntime, room: FurnishedRoom): Promise<Answer> {
      const list: unknown = "list" in scenario.network ? scenario.network.list : undefined;
      const named = operation.do !== "GC" && operation.do !== "STATUS";
      const args = argsText(runtime);
      return plexus.call({
        verb: operation.do,
        cniPath: room.cniPath,
        env: { PATH: inheritedPath },
        ...(named ? { containerId: runtime.containerID, ifname: runtime.ifname, netns: runtime.netns } : {}),
        ...(named && args !== undefined ? { args } : {}),
        config: {
          cniVersion: outerVersion,
          name: "outer",
          type: "plexus",
          cniDir: room.cacheDir,
          runDir: join(room.cacheDir, "run"),
          delegates: [list],
          ...(named && runtime.capabilityArgs !== undefined ? { runtimeConfig: runtime.capabilityArgs } : {}),
          ...(operation.valid === undefined ? {} : { "cni.dev/valid-attachments": operation.valid }),
        },
      });
    }

    const chosen = scenarios.filter(compared);

    test("at least 40 scenarios are compared", () => {
      expect(chosen.length).toBeGreaterThanOrEqual(40);
    });

    test.each(chosen)("$title", async (scenario) => {
      const mine = furnish(scenario, directory);
      const { room: other, expected } = theirs(scenario, directory);
      const answers: (readonly [our: unknown, their: unknown])[] = [];
      for (const { operation, answer } of expected) {
        answers.push(comparable(await ours(scenario, operation, runtimeOf(scenario, operation), mine), answer));
      }
      expect(answers.map(([our]) => our)).toEqual(answers.map(([, their]) => their));
      // What goMaxProcs adds is all that a plugin is told besides.
      const toldByUs = observedCalls(other).map((call) => ({ ...call, env: { ...call.env, GOMAXPROCS: "1" } }));
      expect(observedCalls(mine)).toEqual(toldByUs);
      expect(observedCache(mine)).toEqual(observedCache(other));
    });
  },
);
