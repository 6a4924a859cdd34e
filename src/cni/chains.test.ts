import { describe, expect, test } from "vitest";
import { type Fault, fault, neverBegun } from "../fault/fault.ts";
import type { AttachmentContext, ChainResult, ChainStep, StepOutcome, Chain } from "./chain-step.ts";
import { addChain, checkChain, delChain, statusChain, runChain } from "./chains.ts";
import { gcChain } from "./gc-chain.ts";
import { parseNetworkList } from "./network-list.ts";
import { validateChain } from "../../test/node/conformance/libcni/validate-chain.ts";
import { ok } from "../fault/result.ts";

type Answers = Readonly<Record<string, string | Fault>>;

/** Runs a chain; `answers` has the answer of each plugin type; the default is an empty object. */
function run<T>(chain: Generator<ChainStep, T, StepOutcome>, answers: Answers = {}): { result: T; steps: ChainStep[] } {
  const steps: ChainStep[] = [];
  let turn = chain.next();
  while (!turn.done) {
    steps.push(turn.value);
    const answer = answers[turn.value.plugin.type] ?? "{}";
    turn = chain.next(typeof answer === "string" ? { ok: true, stdout: answer } : { ok: false, fault: answer });
  }
  return { result: turn.value, steps };
}

function context(plugins: readonly string[], more: { version?: string; keys?: string } = {}): AttachmentContext {
  const objects = plugins.map((plugin) => (plugin.startsWith("{") ? plugin : `{"type":"${plugin}"}`)).join(",");
  const version = more.version ?? "1.1.0";
  const list = parseNetworkList(`{"name":"net","cniVersion":"${version}",${more.keys ?? ""}"plugins":[${objects}]}`);
  if (!list.ok) throw new Error(list.fault.msg);
  const attachment = {
    containerId: "c1",
    ifname: "eth0",
    netns: "/run/netns/c1",
    args: "K8S_POD_NAME=p",
    capabilityArgs: new Map([["mac", '"0a:00:00:00:00:01"']]),
  };
  return { list: list.value, attachment, path: "/opt/cni/bin", inherited: [["PATH", "/usr/bin"]] };
}

function calls(steps: readonly ChainStep[]): string[] {
  return steps.map(({ verb, plugin }) => `${verb} ${plugin.type}`);
}

function input(step: ChainStep | undefined): Record<string, unknown> {
  return JSON.parse(step?.stdin ?? "{}");
}

function env(step: ChainStep | undefined): Record<string, string> {
  return Object.fromEntries(step?.env ?? []);
}

function failure(result: ChainResult<unknown>): unknown {
  return result.ok ? "success" : [result.fault.code, result.fault.msg, result.failedStep];
}

function speaks(...versions: string[]): string {
  return JSON.stringify({ cniVersion: "1.1.0", supportedVersions: versions });
}

const broken = fault("PLUGIN_FAILED", "no veth", { code: 107 });

describe("ADD", () => {
  test("L-39: runs the plugins in order, each with the unchanged text of the previous result", () => {
    const answers = { a: '{"cniVersion":"0.4.0", "ips":[], "x":9007199254740993}', b: '{"ips":[{"address":"10.0.0.1/8"}]}' };
    const { result, steps } = run(addChain(context(["a", "b", "c"])), answers);
    expect(calls(steps)).toEqual(["ADD a", "ADD b", "ADD c"]);
    expect(steps.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(steps[0]?.stdin).toBe('{"type":"a","cniVersion":"1.1.0","name":"net"}');
    expect(steps[1]?.stdin).toBe(`{"type":"b","cniVersion":"1.1.0","name":"net","prevResult":${answers.a}}`);
    expect(steps[2]?.prevResult?.text).toBe('{"ips":[{"address":"10.0.0.1/8"}],"cniVersion":"1.1.0"}');
    expect(result).toEqual({ ok: true, value: { text: '{"cniVersion":"1.1.0"}', result: expect.objectContaining({ ips: [] }) } });
  });

  test("L-09: every plugin's environment has the call's and the inherited variables", () => {
    const { steps } = run(addChain(context(["a"])));
    expect(env(steps[0])).toEqual({
      PATH: "/usr/bin",
      CNI_COMMAND: "ADD",
      CNI_CONTAINERID: "c1",
      CNI_NETNS: "/run/netns/c1",
      CNI_ARGS: "K8S_POD_NAME=p",
      CNI_IFNAME: "eth0",
      CNI_PATH: "/opt/cni/bin",
    });
    expect(steps[0]?.attachment).toEqual({ containerId: "c1", ifname: "eth0" });
  });

  test("L-39: the first failure stops the chain, keeps the plugin's code and names the plugin; nothing is undone", () => {
    const { result, steps } = run(addChain(context(["a", '{"type":"b","name":"second"}', "c"])), { b: broken });
    expect(calls(steps)).toEqual(["ADD a", "ADD b"]);
    expect(failure(result)).toEqual([107, 'plugin type="b" name="second" failed (add): no veth', 1]);
  });

  test("L-12: a plugin that prints no result has failed", () => {
    const { result, steps } = run(addChain(context(["a", "b"])), { a: "" });
    expect(calls(steps)).toEqual(["ADD a"]);
    expect(failure(result)).toEqual([6, 'plugin type="a" failed (add): result is empty where a JSON object is expected', 0]);
  });

  test("N1-38, N1-39: without a plugin's result, the chain continues with the previous or an empty result, if the caller allows it", () => {
    const silent: string[] = [];
    const lenient = { ...context(["a", "b", "c"]), withoutResult: ({ type }: { type: string }) => void silent.push(type) };
    const { result, steps } = run(addChain(lenient), { a: " \n", b: '{"ips":[{"address":"10.0.0.1/8"}]}', c: "" });
    expect(steps.map((step) => input(step)["prevResult"])).toEqual([
      undefined,
      { cniVersion: "1.1.0" },
      { cniVersion: "1.1.0", ips: [{ address: "10.0.0.1/8" }] },
    ]);
    expect(result).toMatchObject({ ok: true, value: { result: { ips: [{ address: "10.0.0.1/8" }] } } });
    expect(silent).toEqual(["a", "c"]);
    expect(failure(run(addChain(lenient), { a: "5" }).result)).toMatchObject([6, expect.stringContaining('"a"'), 0]);
  });

  test.each([
    [{ containerId: "" }, 3, "missing containerID"],
    [{ containerId: "../c" }, 4, "invalid characters in containerID"],
    [{ ifname: "a/b" }, 4, "interface name contains / or :"],
    [{ ifname: "" }, 4, "interface name is empty"],
    [{ netns: "/n\0x" }, 4, "NUL"],
    [{ args: "A=1\0" }, 4, "NUL"],
  ])("L-04: %j is refused with %d before any plugin runs", (wrong, code, message) => {
    const base = context(["a"]);
    const { result, steps } = run(addChain({ ...base, attachment: { ...base.attachment, ...wrong } }));
    expect(steps).toEqual([]);
    expect(failure(result)).toEqual([code, expect.stringContaining(message), undefined]);
  });

  test("L-45: plugins are not asked for their versions; an unknown version is refused", () => {
    const { result, steps } = run(addChain(context(["a"], { version: "9.0.0" })));
    expect(steps).toEqual([]);
    expect(failure(result)).toEqual([1, expect.stringContaining('cniVersion "9.0.0"'), undefined]);
  });

  test("L-18: a list without plugins has no result", () => {
    const base = context(["a"]);
    const { result } = run(addChain({ ...base, list: { ...base.list, plugins: [] } }));
    expect(failure(result)).toEqual([7, 'network "net" has no plugins', undefined]);
  });
});

describe("DEL", () => {
  const cached = '{"cniVersion":"1.1.0","ips":[{"address":"10.0.0.1/8"}],"x":1e400}';

  test("L-40, L-26: runs in reverse, each plugin with the cached final result", () => {
    const { result, steps } = run(delChain(context(["a", "b", "c"]), cached));
    expect(calls(steps)).toEqual(["DEL c", "DEL b", "DEL a"]);
    expect(steps.map(({ index }) => index)).toEqual([2, 1, 0]);
    expect(steps.every(({ stdin }) => stdin.endsWith(`"prevResult":${cached}}`))).toBe(true);
    expect(result).toEqual({ ok: true, value: { unusableResult: undefined } });
  });

  test("L-26: the cached result is converted to the list's version", () => {
    const { steps } = run(delChain(context(["a"], { version: "0.4.0" }), cached));
    expect(input(steps[0])["prevResult"]).toEqual({
      cniVersion: "0.4.0",
      ips: [{ version: "4", address: "10.0.0.1/8" }],
      dns: {},
    });
  });

  test("L-26: a cached result without a version has version 0.1.0, as in libcni", () => {
    const { steps } = run(delChain(context(["a"]), '{"ip4":{"ip":"10.0.0.1/8"}}'));
    expect(input(steps[0])["prevResult"]).toEqual({ cniVersion: "1.1.0", ips: [{ address: "10.0.0.1/8" }] });
  });

  test("L-26: before 0.4.0, and without a cached result, there is no previous result", () => {
    expect(input(run(delChain(context(["a"], { version: "0.3.1" }), cached)).steps[0])).not.toHaveProperty("prevResult");
    expect(input(run(delChain(context(["a"]), undefined)).steps[0])).not.toHaveProperty("prevResult");
  });

  test("L-40, D-04: the first failure stops the chain", () => {
    const { result, steps } = run(delChain(context(["a", "b", "c"]), cached), { b: broken });
    expect(calls(steps)).toEqual(["DEL c", "DEL b"]);
    expect(failure(result)).toEqual([107, 'plugin type="b" failed (delete): no veth', 1]);
  });

  const refusals = [
    ["its version", fault("VERSION_UNSUPPORTED", "speaks 0.3.0")],
    ["its version by a native plugin", fault("PLUGIN_FAILED", "incompatible CNI versions", { code: 1 })],
    ["a capability that is not granted", fault("CAPABILITY_NOT_GRANTED", "not granted: links")],
    [
      "a part of a grant, with the delegate's fault",
      fault("DELEGATE_FAILED", "state", { code: 7, details: "Add it [NOT_GRANTED]" }),
    ],
  ] as const;

  test.each(refusals)("a step that is refused for %s fails the chain, but all other steps get their DEL", (_, refused) => {
    const { result, steps } = run(delChain(context(["a", "b", "c"]), cached), { c: refused, a: broken });
    expect(calls(steps)).toEqual(["DEL c", "DEL b", "DEL a"]);
    expect(failure(result)).toEqual([refused.code, `plugin type="c" failed (delete): ${refused.msg}`, 2]);
    expect(result.ok ? "" : result.fault.details).toContain('also: plugin type="a" failed (delete): no veth');
  });

  test("a step that can't be started stops no other, and makes DEL fail; `noneBegun` tells that no other kind of failure occurred", () => {
    const lost = neverBegun(fault("PLUGIN_NOT_STARTABLE", "no interpreter"));
    const { result, steps } = run(delChain(context(["a", "b", "c"]), cached), { b: lost });
    expect(calls(steps)).toEqual(["DEL c", "DEL b", "DEL a"]);
    expect(result).toMatchObject({ ok: false, failedStep: 1, noneBegun: true, neverAttached: false });
    const both = run(delChain(context(["a", "b", "c"]), cached), { b: lost, a: broken });
    expect(both.result).toMatchObject({ ok: false, noneBegun: false });
  });

  test("after a refusal, the first failure of another kind stops the chain", () => {
    const answers = { c: fault("NOT_GRANTED", "no"), b: broken };
    expect(calls(run(delChain(context(["a", "b", "c"]), cached), answers).steps)).toEqual(["DEL c", "DEL b"]);
  });

  describe("of a chain whose ADD failed", () => {
    const failedAdd = { step: 1, code: 107, msg: "no veth" };

    test("continues after the failed step's same failure, and after failures of steps that never ran", () => {
      const { result, steps } = run(delChain(context(["a", "b", "c"]), undefined, failedAdd), {
        b: broken,
        c: fault("PLUGIN_FAILED", "?"),
      });
      expect(calls(steps)).toEqual(["DEL c", "DEL b", "DEL a"]);
      expect(result).toMatchObject({ ok: false, failedStep: 2, neverAttached: true });
    });

    test("stops if the failed step fails differently, or if a step fails that succeeded in ADD", () => {
      const otherwise = run(delChain(context(["a", "b", "c"]), undefined, failedAdd), {
        b: fault("PLUGIN_FAILED", "no lease", { code: 107 }),
      });
      expect(calls(otherwise.steps)).toEqual(["DEL c", "DEL b"]);
      expect(otherwise.result).toMatchObject({ ok: false, neverAttached: false });
      const earlier = run(delChain(context(["a", "b", "c"]), undefined, failedAdd), { b: broken, a: broken });
      expect(earlier.result).toMatchObject({ ok: false, neverAttached: false });
    });

    test("succeeds if a step was begun neither in ADD nor in DEL, for whatever reasons", () => {
      const lost = neverBegun(fault("COMPONENT_REFUSED", "b: has no section"));
      const add = { step: 1, code: 999, msg: "b: not granted", notBegun: true } as const;
      const answers = { b: lost, c: neverBegun(fault("PLUGIN_NOT_STARTABLE", "no interpreter")) };
      const { result, steps } = run(delChain(context(["a", "b", "c"]), undefined, add), answers);
      expect([calls(steps), result.ok]).toEqual([["DEL c", "DEL b", "DEL a"], true]);
      expect(run(delChain(context(["a", "b", "c"]), undefined, add), { a: lost }).result.ok).toBe(false);
    });

    test("succeeds if a step was refused in ADD and in DEL: it attached nothing", () => {
      const refused = fault("VERSION_UNSUPPORTED", "b (add): speaks 0.3.0");
      const add = { step: 1, code: 1, msg: refused.msg };
      const { result, steps } = run(delChain(context(["a", "b", "c"]), undefined, add), {
        b: fault("VERSION_UNSUPPORTED", "b (delete): speaks 0.3.0"),
      });
      expect([calls(steps), result.ok]).toEqual([["DEL c", "DEL b", "DEL a"], true]);
    });
  });

  test.each(["", "{", '{"cniVersion":"8.0.0"}', '{"cniVersion":"1.0.0","ips":[{}]}'])(
    "L-40: a DEL runs despite the unusable cached result %j, which is reported",
    (unusable) => {
      const { result, steps } = run(delChain(context(["a", "b"]), unusable));
      expect(calls(steps)).toEqual(["DEL b", "DEL a"]);
      expect(input(steps[0])).not.toHaveProperty("prevResult");
      expect(result.ok && result.value.unusableResult?.kind).toBe("RESULT_INVALID");
    },
  );

  test("L-04, L-47: an attachment stays removable with invalid names, without a namespace, and with an unknown version", () => {
    const base = context(["a"], { version: "9.0.0" });
    const attachment = { ...base.attachment, containerId: "-odd", ifname: "sixteen-bytes-ab", netns: "" };
    const { result, steps } = run(delChain({ ...base, attachment }, undefined));
    expect(result.ok).toBe(true);
    expect(env(steps[0])).toMatchObject({ CNI_CONTAINERID: "-odd", CNI_IFNAME: "sixteen-bytes-ab", CNI_NETNS: "" });
  });

  test("L-40: the output of DEL is ignored", () => {
    expect(run(delChain(context(["a"]), undefined), { a: "garbage" }).result.ok).toBe(true);
  });
});

describe("CHECK", () => {
  const cached = '{"cniVersion":"1.1.0"}';

  test("L-41: runs in order with the cached final result, and needs none", () => {
    const { result, steps } = run(checkChain(context(["a", "b"]), cached));
    expect([result.ok, ...calls(steps)]).toEqual([true, "CHECK a", "CHECK b"]);
    expect(steps[1]?.stdin).toContain(`"prevResult":${cached}`);
    expect(steps[1]?.stdin).not.toContain("runtimeConfig");
    expect(run(checkChain(context(["a"]), undefined)).result.ok).toBe(true);
  });

  test("L-41: the first failure stops the chain", () => {
    const { result, steps } = run(checkChain(context(["a", "b"]), cached), { a: broken });
    expect(calls(steps)).toEqual(["CHECK a"]);
    expect(failure(result)).toEqual([107, 'plugin type="a" failed (check): no veth', 0]);
  });

  test("L-41: a list before 0.4.0 has no CHECK", () => {
    const { result, steps } = run(checkChain(context(["a"], { version: "0.3.1" }), cached));
    expect(steps).toEqual([]);
    expect(failure(result)).toEqual([1, 'configuration version "0.3.1" does not support the CHECK command', undefined]);
  });

  test("L-41: with disableCheck it succeeds without a step", () => {
    const { result, steps } = run(checkChain(context(["a"], { keys: '"disableCheck":true,' }), "broken"));
    expect([result.ok, steps.length]).toEqual([true, 0]);
  });

  test("L-41: a cached result that cannot be read is a failure", () => {
    const { result } = run(checkChain(context(["a"]), "{"));
    expect(failure(result)).toEqual([6, expect.stringContaining('failed to get network "net" cached result'), undefined]);
  });
});

describe("STATUS", () => {
  const base = context(["a", '{"type":"b","capabilities":{"mac":true}}']);

  test("L-42, L-09: runs in order, without the attachment's variables", () => {
    const { result, steps } = run(statusChain(base));
    expect([result.ok, ...calls(steps)]).toEqual([true, "STATUS a", "STATUS b"]);
    expect(Object.keys(input(steps[1]))).toEqual(["type", "capabilities", "cniVersion", "name"]);
    expect(env(steps[0])).toMatchObject({
      CNI_COMMAND: "STATUS",
      CNI_CONTAINERID: "",
      CNI_NETNS: "",
      CNI_IFNAME: "",
      CNI_ARGS: "",
    });
    expect(env(steps[0])["CNI_PATH"]).toBe("/opt/cni/bin");
  });

  test.each([50, 51])("L-42: code %d survives, with the plugin's own message", (code) => {
    const { result, steps } = run(statusChain(base), { a: fault("PLUGIN_FAILED", "not ready", { code }) });
    expect([failure(result), ...calls(steps)]).toEqual([[code, "not ready", 0], "STATUS a"]);
  });

  test("L-42: STATUS of a list before 1.1.0 succeeds without a step", () => {
    expect(run(statusChain(context(["a"], { version: "1.0.0" })))).toEqual({ result: { ok: true, value: undefined }, steps: [] });
  });
});

describe("GC", () => {
  const valid = [{ containerId: "c1", ifname: "eth0" }];
  const base = context(["a", "b"]);
  const stale = ["c2", "c3"].map((containerId) => ({
    attachment: { ...base.attachment, containerId, args: `K=${containerId}` },
    result: '{"cniVersion":"1.1.0"}',
  }));

  test("L-43: stale attachments get a DEL with the ADD's arguments, then every plugin gets GC", () => {
    const { result, steps } = run(gcChain(base, valid, stale));
    expect(calls(steps)).toEqual(["DEL b", "DEL a", "DEL b", "DEL a", "GC a", "GC b"]);
    expect(env(steps[2])).toMatchObject({ CNI_CONTAINERID: "c3", CNI_ARGS: "K=c3", CNI_NETNS: "/run/netns/c1" });
    expect(env(steps[4])).toMatchObject({ CNI_COMMAND: "GC", CNI_CONTAINERID: "", CNI_IFNAME: "" });
    const list = [{ containerID: "c1", ifname: "eth0" }];
    expect(input(steps[5])).toMatchObject({ name: "net", "cni.dev/valid-attachments": list, "cni.dev/attachments": list });
    expect(result).toEqual({
      ok: true,
      value: undefined,
      deleted: stale.map(({ attachment: { containerId, ifname } }) => ({ containerId, ifname })),
    });
  });

  test("L-43: all steps run despite failures, the faults are joined, and the deleted attachments are answered", () => {
    let dels = 0;
    const chain = gcChain(base, valid, stale);
    let turn = chain.next();
    const seen: string[] = [];
    while (!turn.done) {
      seen.push(`${turn.value.verb} ${turn.value.plugin.type}`);
      const fails = turn.value.verb === "GC" || (turn.value.plugin.type === "b" && dels++ === 0);
      turn = chain.next(fails ? { ok: false, fault: broken } : { ok: true, stdout: "" });
    }
    expect(seen).toEqual(["DEL b", "DEL b", "DEL a", "GC a", "GC b"]);
    expect(turn.value.deleted).toEqual([{ containerId: "c3", ifname: "eth0" }]);
    expect(failure(turn.value)).toEqual([
      107,
      'failed to delete stale attachment c2 eth0: plugin type="b" failed (delete): no veth; failed to GC plugin a: no veth; failed to GC plugin b: no veth',
      1,
    ]);
  });

  test("L-43: with disableGC no step runs, before 1.1.0 only the DELs", () => {
    expect(run(gcChain(context(["a"], { keys: '"disableGC":true,' }), valid, stale)).steps).toEqual([]);
    expect(calls(run(gcChain(context(["a"], { version: "1.0.0" }), valid, stale)).steps)).toEqual(["DEL a", "DEL a"]);
  });
});

describe("validation of a list", () => {
  test("L-14, L-13: every plugin is probed, and each true capability is answered once", () => {
    const base = context([
      '{"type":"a","capabilities":{"mac":true,"ips":false}}',
      '{"type":"b","capabilities":{"mac":true,"dns":true}}',
    ]);
    const { result, steps } = run(validateChain(base), { a: speaks("1.0.0", "1.1.0"), b: speaks("1.1.0") });
    expect(result).toEqual({ ok: true, value: ["mac", "dns"] });
    expect(steps.map(({ stdin }) => stdin)).toEqual(['{"cniVersion":"1.1.0"}', '{"cniVersion":"1.1.0"}']);
    expect(env(steps[0])).toMatchObject({
      CNI_COMMAND: "VERSION",
      CNI_NETNS: "dummy",
      CNI_IFNAME: "dummy",
      CNI_PATH: "dummy",
      PATH: "/usr/bin",
    });
  });

  test("L-14: the version must be exactly one of the plugin's, and all faults are collected", () => {
    const { result } = run(validateChain(context(["a", "b", "c"])), { a: speaks("1.0.0"), b: broken, c: speaks("1.1.0") });
    expect(failure(result)).toEqual([1, 'plugin a does not support config version "1.1.0"; no veth', 0]);
  });

  test("L-14: a list without version needs 0.1.0", () => {
    const { result } = run(validateChain(context(["a"], { version: "" })), { a: speaks("0.1.0") });
    expect(result.ok).toBe(true);
  });
});

const list = parseNetworkList('{"cniVersion":"1.0.0","name":"pods","plugins":[{"type":"one"},{"type":"two"}]}');
if (!list.ok) throw new Error(list.fault.msg);
const steps = list.value.plugins.map((plugin, index): ChainStep => ({
  index,
  plugin,
  verb: "ADD",
  stdin: "{}",
  env: [],
  prevResult: undefined,
  attachment: undefined,
}));

/** Yields each step; answers the outputs, or the first failure. */
function* outputsOf(): Chain<string> {
  const outputs: string[] = [];
  for (const step of steps) {
    const outcome = yield step;
    if (!outcome.ok) return { ok: false, fault: outcome.fault, failedStep: step.index };
    outputs.push(outcome.stdout);
  }
  return { ok: true, value: outputs.join() };
}

/** A runner whose steps all succeed. */
const succeeding = () => async (): Promise<StepOutcome> => ({ ok: true, stdout: "" });

describe("a chain", () => {
  test("has its steps run in order, each after the end of the one before", async () => {
    const log: string[] = [];
    const result = await runChain(outputsOf(), async ({ plugin }): Promise<StepOutcome> => {
      log.push(`begin ${plugin.type}`);
      await Promise.resolve();
      log.push(`end ${plugin.type}`);
      return { ok: true, stdout: plugin.type };
    });
    expect(log).toEqual(["begin one", "end one", "begin two", "end two"]);
    expect(result).toEqual(ok("one,two"));
  });

  test("a failed step is the chain's affair, and its fault is reported when the chain ends", async () => {
    const pluginFault = fault("PLUGIN_FAILED", "one failed");
    const reported: (Fault | undefined)[] = [];
    const runStep = async (): Promise<StepOutcome> => ({ ok: false, fault: pluginFault });
    const result = await runChain(outputsOf(), Object.assign(runStep, { ended: (reason?: Fault) => void reported.push(reason) }));
    expect(result).toEqual({ ok: false, fault: pluginFault, failedStep: 0 });
    expect(reported).toEqual([pluginFault]);
  });

  test("its success is reported once, without a fault", async () => {
    const reported: (Fault | undefined)[] = [];
    await runChain(outputsOf(), Object.assign(succeeding(), { ended: (reason?: Fault) => void reported.push(reason) }));
    expect(reported).toEqual([undefined]);
  });
});
