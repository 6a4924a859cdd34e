import { describe, expect, test } from "vitest";
import { type Fault, fault } from "../fault/fault.ts";
import { addChain, delChain } from "./chains.ts";
import type { Chain, ChainResult, ChainStep } from "./chain-step.ts";
import { delegatedAdd, delegatedVerb } from "./delegation.ts";
import { parseNetworkList } from "./network-list.ts";

const plugin = '{"type":"bridge","x":1e400,"ipam":{"type":"host-local","subnet":"10.0.0.0/8"}}';
const answered = '{"ips":[{"address":"10.0.0.2/8"}]}';
const previous = '{"cniVersion":"1.1.0","ips":[{"address":"10.9.0.2/8"}]}';
const broken = fault("PLUGIN_FAILED", "no address", { code: 107 });

function stepOf(verb: "ADD" | "DEL"): ChainStep {
  const list = parseNetworkList(`{"name":"net","cniVersion":"1.1.0","plugins":[${plugin}]}`);
  if (!list.ok) throw new Error(list.fault.msg);
  const attachment = {
    containerId: "c1",
    ifname: "eth0",
    netns: "/run/netns/c1",
    args: "",
    capabilityArgs: new Map<string, string>(),
  };
  const context = { list: list.value, attachment, path: "/opt/cni/bin", inherited: [["PATH", "/usr/bin"]] as const };
  const step = (verb === "ADD" ? addChain(context) : delChain(context, previous)).next().value;
  if (!("plugin" in step)) throw new Error("no step");
  return step;
}

/** Runs a chain; its steps get the answers in order. */
function run<T>(chain: Chain<T>, ...answers: readonly (string | Fault)[]): { result: ChainResult<T>; steps: ChainStep[] } {
  const steps: ChainStep[] = [];
  let turn = chain.next();
  while (!turn.done) {
    const answer = answers[steps.length] ?? "";
    steps.push(turn.value);
    turn = chain.next(typeof answer === "string" ? { ok: true, stdout: answer } : { ok: false, fault: answer });
  }
  return { result: turn.value, steps };
}

function calls(steps: readonly ChainStep[]): string[] {
  return steps.map(({ verb, plugin: { type }, env }) => `${verb} ${type} ${new Map(env).get("CNI_COMMAND")}`);
}

const hostLocal = { type: "host-local" };

describe("delegation", () => {
  test("L-62: the other plugin gets the same configuration byte for byte, and the same environment", () => {
    const call = stepOf("ADD");
    const { result, steps } = run(delegatedAdd(call, hostLocal), answered);
    expect(calls(steps)).toEqual(["ADD host-local ADD"]);
    expect([steps[0]?.stdin, steps[0]?.env]).toEqual([call.stdin, call.env]);
    expect(result).toMatchObject({ ok: true, value: { result: { cniVersion: "1.1.0", ips: [{ address: "10.0.0.2/8" }] } } });
  });

  test("L-62: after a failed ADD, DEL runs with the same input, and the fault has the ADD's code and message", () => {
    const { result, steps } = run(delegatedAdd(stepOf("ADD"), hostLocal), broken);
    expect(calls(steps)).toEqual(["ADD host-local ADD", "DEL host-local DEL"]);
    expect(steps[1]?.stdin).toBe(steps[0]?.stdin);
    expect(result).toMatchObject({ ok: false, fault: { code: 107, msg: "plugin host-local failed (add): no address" } });
  });

  test("L-62: a DEL that fails after a failed ADD is reported in the details", () => {
    const { result } = run(delegatedAdd(stepOf("ADD"), hostLocal), broken, fault("PLUGIN_FAILED", "no disk"));
    expect(result).toMatchObject({ fault: { code: 107, details: expect.stringContaining("its DEL failed too: no disk") } });
  });

  test("L-62: a missing plugin gets no DEL", () => {
    const { steps } = run(delegatedAdd(stepOf("ADD"), hostLocal), fault("PLUGIN_NOT_FOUND", "none"));
    expect(calls(steps)).toEqual(["ADD host-local ADD"]);
  });

  test.each(["DEL", "CHECK", "GC", "STATUS"] as const)("L-62: %s is passed on, and its failure with its code", (verb) => {
    const call = stepOf("DEL");
    const { result, steps } = run(delegatedVerb(call, verb, hostLocal), "ignored");
    expect(result.ok).toBe(true);
    expect(calls(steps)).toEqual([`${verb} host-local ${verb}`]);
    expect([steps[0]?.stdin, steps[0]?.prevResult]).toEqual([call.stdin, call.prevResult]);
    expect(run(delegatedVerb(call, verb, hostLocal), broken).result).toMatchObject({ ok: false, fault: { code: 107 } });
  });

  test.each([
    ['{"interfaces":[{"name":"a"}]}', "must not have interfaces"],
    ['{"ips":[{"address":"10.0.0.2/8"},{"address":"10.0.0.3/8","interface":0}]}', "must not have ips[1].interface"],
  ])("L-63: the IPAM result %s is refused, and DEL releases its addresses", (answer, message) => {
    const { result, steps } = run(delegatedAdd(stepOf("ADD"), hostLocal), answer);
    expect(calls(steps)).toEqual(["ADD host-local ADD", "DEL host-local DEL"]);
    expect(result).toMatchObject({ ok: false, fault: { code: 6, msg: expect.stringContaining(message) } });
    // Plugins other than IPAM plugins may make interfaces.
    expect(run(delegatedAdd(stepOf("ADD"), { type: "macvlan" }), '{"interfaces":[{"name":"a"}]}').result.ok).toBe(true);
    // The ipam.type of the delegated configuration is an IPAM plugin, too.
    const config = '{"ipam":{"type":"dhcp"}}';
    expect(run(delegatedAdd(stepOf("ADD"), { type: "dhcp", config }), answer).result.ok).toBe(false);
  });

  test("L-62: a given configuration keeps its bytes, except network, version, previous result and attachments of the call", () => {
    const call = stepOf("DEL");
    const config =
      '{"cniVersion":"0.1.0", "name":"other","y":9007199254740993,"prevResult":{},"PrevResult":{},"NAME":"x","cniVer\u017fion":"0.2.0","cni.dev/valid-attachments":[],"CNI.dev/attachments":[]}';
    const { steps } = run(delegatedVerb(call, "DEL", { ...hostLocal, config }));
    expect(steps[0]?.stdin).toContain('"y":9007199254740993');
    const { prevResult, ...rest } = JSON.parse(steps[0]?.stdin.replace("9007199254740993", "1") ?? "") as Record<string, unknown>;
    expect(rest).toEqual({ cniVersion: "1.1.0", name: "net", y: 1 });
    expect(prevResult).toEqual(JSON.parse(previous));
  });

  test.each(["", "5", "[]", '{"a":', '{"a":1,"a":2}x'])(
    "a given configuration that is not an object is refused before any step: %j",
    (config) => {
      const { result, steps } = run(delegatedAdd(stepOf("ADD"), { ...hostLocal, config }), answered);
      expect([steps, result]).toMatchObject([
        [],
        { ok: false, fault: { code: 6, msg: expect.stringContaining("plugin host-local") } },
      ]);
    },
  );
});
