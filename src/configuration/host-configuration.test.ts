import { describe, expect, test } from "vitest";
import { readHostConfiguration } from "./host-configuration.ts";

const base = { cniVersion: "1.0.0", name: "cluster", type: "plexus" };
const delegates = [{ type: "bridge" }];

function message(value: unknown): string {
  const read = readHostConfiguration(value);
  return read.ok ? "accepted" : `${read.fault.code} ${read.fault.msg}`;
}

describe("the host configuration", () => {
  test("fills in every default", () => {
    const read = readHostConfiguration({ ...base, delegates });
    expect(read.ok && read.value).toMatchObject({
      cniDir: "/var/lib/cni/plexus",
      confDir: "/etc/cni/multus/net.d",
      runDir: "/run/plexus",
      stepTimeoutMs: 60_000,
      profile: "compat",
      wasm: { prefer: false, limits: {}, grants: {} },
    });
  });

  test.each([
    [{ ...base }, "delegates"],
    [{ ...base, delegates: [] }, "delegates"],
    [{ ...base, delegates: [5] }, "delegates.0"],
    [{ ...base, delegates, clusterNetwork: "x" }, "clusterNetwork"],
    [{ ...base, delegates, cniDir: "relative" }, "cniDir"],
    [{ ...base, delegates, manifests: 5 }, "manifests"],
    [{ ...base, delegates, stepTimeoutMs: 0 }, "stepTimeoutMs"],
    [{ ...base, delegates, stepTimeoutMs: 1.5 }, "stepTimeoutMs"],
    [{ ...base, delegates, profile: "loose" }, "profile"],
    [{ ...base, delegates, wasm: { isolation: "none" } }, "wasm.isolation"],
    [{ ...base, delegates, wasm: { limits: { timeMs: 0 } } }, "wasm.limits.timeMs"],
    [{ ...base, delegates, wasm: { grants: { "*": { leases: { directories: ["../x"] } } } } }, "directories"],
    [{ type: "plexus", delegates }, "name"],
    [[], "configuration"],
    [null, "configuration"],
  ])("%j is refused, naming %s", (value, field) => {
    expect(message(value)).toMatch(/^7 /);
    expect(message(value)).toContain(field);
  });

  test.each([
    [{ ...base, delgates: delegates }, "delgates: no such key; did you mean delegates?"],
    [{ ...base, delegates, wasm: { limits: { timems: 5 } } }, "wasm.limits.timems: no such key; did you mean timeMs?"],
    [{ ...base, delegates, wasm: { grants: { x: { lease: {} } } } }, "wasm.grants.x.lease: no such key; did you mean leases?"],
    [{ ...base, delegates, wasm: { grants: { x: { network: {} } } } }, "valid ones: log, leases, resolver"],
  ])("E-8: a mistyped key names the nearest valid one, or all: %j", (value, text) => {
    expect(message(value)).toContain(text);
  });

  test("A-04: keys of the prototype are unknown keys like others", () => {
    expect(message(JSON.parse(`{"name":"a","type":"plexus","delegates":[{}],"constructor":{}}`))).toContain("constructor");
    const polluted: unknown = JSON.parse(`{"name":"a","type":"plexus","delegates":[{}],"__proto__":{"manifests":"/x"}}`);
    const read = readHostConfiguration(polluted);
    expect(read.ok ? read.value.manifests : undefined).toBeUndefined();
  });
});
