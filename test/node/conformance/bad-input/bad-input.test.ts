import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { withGrowingLimit } from "../../../lab/growing-limit.ts";
import { createPodNamespace, filesBelow, type PodNamespace } from "../../../lab/namespaces.ts";
import { installPlexus, type Answer, type Call, type Installation } from "../../../lab/plexus.ts";
import { installHostile, installRecorder, type RecordedCall, type RecorderPlugin } from "../../../lab/recorder.ts";
import { iproute2, missing, privateNamespaces } from "../../../lab/requires.ts";
import { isPermanent } from "../../../lab/stage.ts";
import type { CaseContext } from "./bad-input.ts";
import { badCalls, oddArgs } from "./calls.ts";
import { badSelections } from "./selections.ts";
import { failingPlugins, toleratedPlugins } from "./plugins.ts";

/** The checked parts of an answer as one value, so that a failure shows all of them at once. */
interface Verdict {
  readonly code: unknown;
  readonly msg: string;
  readonly cniVersion: unknown;
  /** Whether the exit status is that of an error: 1 to 125. */
  readonly failed: boolean;
  /** Violations of the error format: CNI section 5 "Error", and a message of one printable line. */
  readonly malformed: readonly string[];
}

// oxlint-disable-next-line no-control-regex -- control characters must be absent
const unprintable = /[\u0000-\u001f\u007f-\u009f]/;

function verdict(answer: Answer): Verdict {
  const { cniVersion, code, msg, details, ...rest } = answer.json ?? {};
  const malformed = [
    ...(answer.json === undefined
      ? [`stdout is not one object: ${answer.stdout.slice(0, 200)} ${answer.stderr.slice(0, 300)}`]
      : []),
    ...(typeof msg === "string" && !unprintable.test(msg) ? [] : ["msg is not one printable line"]),
    ...(details === undefined || typeof details === "string" ? [] : ["details is not a string"]),
    ...Object.keys(rest).map((key) => `${key} is not a member of an error`),
  ];
  return { code, msg: String(msg), cniVersion, failed: answer.status > 0 && answer.status < 126, malformed };
}

/** The cniVersion of the expected error: the configuration's if it can be read, otherwise Plexus' newest. */
function versionOf({ config, stdin }: Call): string {
  const newest = "1.1.0";
  // Plexus refuses a configuration of more than 4 MiB, too deep nesting, or a repeated key before it reads cniVersion.
  if (stdin !== undefined && (stdin.length > 4 << 20 || stdin.includes("[".repeat(101)) || stdin.includes('"name":"b"')))
    return newest;
  try {
    const value: unknown = JSON.parse(stdin?.toString("utf8") ?? JSON.stringify(config));
    const version = value instanceof Object && !Array.isArray(value) ? Reflect.get(value, "cniVersion") : newest;
    if (version === undefined) return "0.1.0";
    return typeof version === "string" && /^\d/.test(version) ? version : newest;
  } catch {
    return newest;
  }
}

function expected(code: number, message: string | RegExp, call: Call): unknown {
  const pattern = typeof message === "string" ? new RegExp(message.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")) : message;
  return { code, msg: expect.stringMatching(pattern), cniVersion: versionOf(call), failed: true, malformed: [] };
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

  /** Makes state and scratch directories and a configuration for one case. */
  function caseContext(delegate: string, more: Readonly<Record<string, unknown>> = {}): CaseContext {
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

  /** Remaining journal entries, cached results and leases, without files that belong to the node. */
  function left(): readonly string[] {
    return ["lib", "run"]
      .flatMap((directory) => filesBelow(join(state, directory)))
      .filter((path) => !path.endsWith("lock") && !isPermanent(path));
  }

  test("the valid call, which all cases vary, succeeds and can be undone", async () => {
    const { call } = caseContext("rec");
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

  test.each([...badCalls, ...badSelections])("$title", async ({ call, code, message, executed = [] }) => {
    const bad = call(caseContext("rec"));
    expect(verdict(await plexus.call(bad))).toEqual(expected(code, message, bad));
    expect(verbsOf(recorder)).toEqual(executed);
    expect(left()).toEqual([]);
  });

  test("A-06, L-19: numbers above 2^53 and 1e400, NUL, lone surrogates and __proto__ reach the plugin unchanged", async () => {
    const { call, config } = caseContext("rec");
    const odd = '"big":18446744073709551615,"huge":1e400,"nul":"\\u0000","half":"\\ud800","__proto__":{"constructor":-0.0}';
    const text = JSON.stringify(config).replace('"type":"rec"', `"type":"rec",${odd}`);
    const added = await plexus.call({ ...call, stdin: text });
    expect({ status: added.status, stdout: added.stdout }).toMatchObject({ status: 0 });
    expect(recorder.calls()[0]?.stdin).toContain(odd);
    expect((await plexus.call({ ...call, verb: "DEL", stdin: text })).status).toBe(0);
    expect(recorder.calls()[1]?.stdin).toContain(odd);
    expect(left()).toEqual([]);
  });

  test("CNI section 3: reserved keys, which begin with cni.dev/, do not fail a call", async () => {
    const { call } = caseContext("rec", {
      cniVersion: "1.1.0",
      "cni.dev/attachments": [],
      "cni.dev/of-a-later-version": { a: 1 },
    });
    const added = await plexus.call(call);
    expect({ status: added.status, stdout: added.stdout, stderr: added.stderr }).toMatchObject({ status: 0, stderr: "" });
    expect((await plexus.call({ ...call, verb: "DEL" })).status).toBe(0);
  });

  test.each(oddArgs)("$title reach the plugin byte for byte", async ({ args }) => {
    const { call } = caseContext("rec");
    const added = await plexus.call({ ...call, args });
    expect({ status: added.status, stdout: added.stdout }).toMatchObject({ status: 0 });
    expect((await plexus.call({ ...call, args, verb: "DEL" })).status).toBe(0);
    expect(recorder.calls().map((recorded) => recorded.env["CNI_ARGS"])).toEqual([args, args]);
    expect(left()).toEqual([]);
  });

  test.each(failingPlugins)("$title", async ({ plugin, code, message, stepTimeoutMs: firstMs = 60_000 }) => {
    // The plugin's DEL must fit into the limit.
    await withGrowingLimit(firstMs, async (stepTimeoutMs) => {
      const hostile = installHostile(plexus.cniPath, plugin);
      const { call } = caseContext(plugin, { stepTimeoutMs });
      const before = verbsOf(hostile).length;
      const answer = await plexus.call(call);
      expect(verdict(answer)).toEqual(expected(code, message, call));
      expect(verbsOf(hostile).slice(before)).toEqual(["ADD", "DEL"]);
      expect(left()).toEqual([]);
    });
  });

  test.each(toleratedPlugins)("$title", async ({ plugin }) => {
    const hostile = installHostile(plexus.cniPath, plugin);
    const { call } = caseContext(plugin);
    try {
      const added = await plexus.call(call);
      expect({ status: added.status, version: added.json?.["cniVersion"], stdout: added.stdout.slice(0, 500) }).toMatchObject({
        status: 0,
        version: "1.0.0",
      });
      expect((await plexus.call({ ...call, verb: "DEL" })).status).toBe(0);
      expect(verbsOf(hostile)).toEqual(["ADD", "DEL"]);
      expect(left()).toEqual([]);
    } finally {
      const daemon = hostile.daemon();
      if (daemon !== undefined) process.kill(daemon, "SIGKILL");
    }
  });
});
