import { describe, expect, test } from "vitest";
import type { ChainStep } from "../../../src/cni/chain-step.ts";
import type { Verb } from "../../../src/cni/environment.ts";
import { parsePluginConf } from "../../../src/cni/network-list.ts";
import { delegateCall } from "./delegate-request.ts";

const plugin = parsePluginConf('{"type":"wasm-bridge"}', "wasm-bridge");

function stepWith(verb: Verb, args: string, cniVersion = "1.0.0"): ChainStep {
  if (!plugin.ok) throw new Error(plugin.fault.msg);
  return {
    index: 0,
    plugin: plugin.value,
    verb,
    stdin: JSON.stringify({ cniVersion, name: "pods", type: "wasm-bridge" }),
    env: [["CNI_ARGS", args]],
    prevResult: undefined,
    attachment: { containerId: "c1", ifname: "eth0" },
  };
}

function callOf(step: ChainStep): unknown {
  const call = delegateCall(step, { remainingMs: 1000, granted: [] });
  return call.ok ? call.value : call.fault.msg;
}

describe("the request for a component", () => {
  test.each([
    ["none", []],
    ["none;MAC=02:00:00:00:00:01", [{ key: "MAC", value: "02:00:00:00:00:01" }]],
    [";;=x;A=1", [{ key: "A", value: "1" }]],
  ])("FI-12: of CNI_ARGS=%s it has the pairs %j, in ADD, CHECK and DEL", (args, pairs) => {
    for (const [verb, name] of [
      ["ADD", "add"],
      ["CHECK", "check"],
      ["DEL", "del"],
    ] as const) {
      expect(callOf(stepWith(verb, args))).toMatchObject({ verb: name, request: { attachment: { args: pairs } } });
    }
  });

  test("FI-09: an empty version is 0.1.0", () => {
    expect(callOf(stepWith("ADD", "", ""))).toMatchObject({ request: { network: { cniVersion: "0.1.0" } } });
  });
});
