import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { createPodNamespace, filesBelow, type PodNamespace } from "../../harness/namespaces.ts";
import { installPlexus, type Answer, type Call, type Installation } from "../../harness/plexus.ts";
import { installHostile, installRecorder, type RecordedCall, type RecorderPlugin } from "../../harness/recorder.ts";
import { iproute2, missing, privateNamespaces } from "../../harness/requires.ts";
import type { Place } from "./bad-input.ts";
import { badCalls, oddArgs } from "./calls.ts";
import { badSelections } from "./selections.ts";
import { failingPlugins, toleratedPlugins } from "./plugins.ts";

/** What a case checks of an answer, as one value, so that a failure shows all of it at once. */
interface Verdict {
  readonly code: unknown;
  readonly msg: string;
  /** Of the answer's status: an error ends with 1 to 125. */
  readonly failed: boolean;
  /** What is wrong with the form of the answer: CNI section 5 "Error", one line, fit for a terminal. */
  readonly malformed: readonly string[];
}

// oxlint-disable-next-line no-control-regex -- control characters are what must not be there
const unprintable = /[\u0000-\u001f\u007f-\u009f]/;

function verdict(answer: Answer): Verdict {
  const { cniVersion, code, msg, details, ...rest } = answer.json ?? {};
  const malformed = [
    ...(answer.json === undefined
      ? [`stdout is not one object: ${answer.stdout.slice(0, 200)} ${answer.stderr.slice(0, 300)}`]
      : []),
    ...(typeof cniVersion === "string" ? [] : ["cniVersion is no text"]),
    ...(typeof msg === "string" && !unprintable.test(msg) ? [] : ["msg is not one printable line"]),
    ...(details === undefined || typeof details === "string" ? [] : ["details is no text"]),
    ...Object.keys(rest).map((key) => `${key} does not belong into an error`),
  ];
  return { code, msg: String(msg), failed: answer.status > 0 && answer.status < 126, malformed };
}

function expected(code: number, names: string | RegExp): unknown {
  const pattern = typeof names === "string" ? new RegExp(names.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")) : names;
  return { code, msg: expect.stringMatching(pattern), failed: true, malformed: [] };
}

function verbsOf(plugin: { calls(): readonly RecordedCall[] }): readonly unknown[] {
  return plugin.calls().map((call) => call.env["CNI_COMMAND"]);
}

describe.skipIf(missing("bad input", privateNamespaces, iproute2))("bad input through the installed binary", () => {
  let plexus: Installation;
  let recorder: RecorderPlugin;
  let pod: PodNamespace;
  let state = "";

  beforeAll(() => {
    plexus = installPlexus();
    recorder = installRecorder(plexus.cniPath, "rec");
    pod = createPodNamespace();
  });
  afterAll(() => {
    pod.dispose();
    plexus.dispose();
  });

  /** A place of its own for one case: nothing of another case can be found in it. */
  function place(delegate: string, more: Readonly<Record<string, unknown>> = {}): Place {
    state = mkdtempSync(join(plexus.directory, "case-"));
    const scratch = join(state, "scratch");
    mkdirSync(scratch);
    recorder.clear();
    const config = {
      cniVersion: "1.0.0",
      name: "outer",
      type: "plexus",
      cniDir: join(state, "lib"),
      runDir: join(state, "run"),
      delegates: [{ name: "inner", cniVersion: "1.0.0", plugins: [{ type: delegate }] }],
      ...more,
    };
    const call: Call = { verb: "ADD", containerId: "ctr-1", netns: pod.path, ifname: "eth0", config };
    return { config, call, cniPath: plexus.cniPath, scratch };
  }

  /** Journal entries, cached results and leases: all files that a call may leave, without locks. */
  function left(): readonly string[] {
    return ["lib", "run"].flatMap((room) => filesBelow(join(state, room))).filter((path) => !path.endsWith("lock"));
  }

  test("the valid call, of which all others are variations, succeeds and can be undone", async () => {
    const { call } = place("rec");
    const added = await plexus.call(call);
    expect({ status: added.status, json: added.json, stderr: added.stderr }).toMatchObject({
      status: 0,
      json: { cniVersion: "1.0.0", ips: [{ address: "10.99.0.2/24" }] },
    });
    expect(left()).not.toEqual([]);
    const deleted = await plexus.call({ ...call, verb: "DEL" });
    expect({ status: deleted.status, stdout: deleted.stdout }).toEqual({ status: 0, stdout: "" });
    expect(verbsOf(recorder)).toEqual(["ADD", "DEL"]);
    expect(left()).toEqual([]);
  });

  test("there are at least 60 cases", () => {
    expect(badCalls.length + badSelections.length + failingPlugins.length + toleratedPlugins.length).toBeGreaterThanOrEqual(60);
  });

  test.each([...badCalls, ...badSelections])("$title", async ({ call, code, names, executed = [] }) => {
    const answer = await plexus.call(call(place("rec")));
    expect(verdict(answer)).toEqual(expected(code, names));
    expect(verbsOf(recorder)).toEqual(executed);
    expect(left()).toEqual([]);
  });

  test("A-06, L-19: numbers above 2^53 and 1e400, NUL, lone surrogates and __proto__ reach the plugin as they were written", async () => {
    const { call, config } = place("rec");
    const odd = '"big":18446744073709551615,"huge":1e400,"nul":"\\u0000","half":"\\ud800","__proto__":{"constructor":-0.0}';
    const text = JSON.stringify(config).replace('"type":"rec"', `"type":"rec",${odd}`);
    const added = await plexus.call({ ...call, stdin: text });
    expect({ status: added.status, stdout: added.stdout }).toMatchObject({ status: 0 });
    expect(recorder.calls()[0]?.stdin).toContain(odd);
    expect((await plexus.call({ ...call, verb: "DEL", stdin: text })).status).toBe(0);
    expect(recorder.calls()[1]?.stdin).toContain(odd);
    expect(left()).toEqual([]);
  });

  test.each(oddArgs)("$title", async ({ args, passed }) => {
    const { call } = place("rec");
    const added = await plexus.call({ ...call, args });
    expect({ status: added.status, stdout: added.stdout }).toMatchObject({ status: 0 });
    expect((await plexus.call({ ...call, args, verb: "DEL" })).status).toBe(0);
    expect(recorder.calls().map((recorded) => recorded.env["CNI_ARGS"])).toEqual([passed, passed]);
    expect(left()).toEqual([]);
  });

  test.each(failingPlugins)("$title", async ({ plugin, code, names, stepTimeoutMs = 20_000 }) => {
    const hostile = installHostile(plexus.cniPath, plugin);
    const { call } = place(plugin, { stepTimeoutMs });
    const answer = await plexus.call(call);
    expect(verdict(answer)).toEqual(expected(code, names));
    expect(verbsOf(hostile)).toEqual(["ADD", "DEL"]);
    expect(left()).toEqual([]);
  });

  test.each(toleratedPlugins)("$title", async ({ plugin }) => {
    const hostile = installHostile(plexus.cniPath, plugin);
    const { call } = place(plugin);
    try {
      const added = await plexus.call(call);
      expect({ status: added.status, version: added.json?.["cniVersion"], stdout: added.stdout.slice(0, 500) }).toMatchObject({
        status: 0,
        version: "1.0.0",
      });
      expect(added.ms).toBeLessThan(20_000);
      expect((await plexus.call({ ...call, verb: "DEL" })).status).toBe(0);
      expect(verbsOf(hostile)).toEqual(["ADD", "DEL"]);
      expect(left()).toEqual([]);
    } finally {
      const daemon = hostile.daemon();
      if (daemon !== undefined) process.kill(daemon, "SIGKILL");
    }
  });
});
