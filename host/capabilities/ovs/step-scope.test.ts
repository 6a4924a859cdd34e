import { expect, test } from "vitest";
import { parsePluginConf } from "../../../src/cni/network-list.ts";
import type { Step } from "../step.ts";
import { ovsScopeOf } from "./step-scope.ts";

const portOf = (interfaceId: string) => ({ externalPort: { mac: "fa:16:3e:00:00:01", binding: { type: "ovs", interfaceId } } });

const runDelegated = () => expect.fail("no step is delegated");

/** `written`: the `runtimeConfig` of the network's author. `passed`: that of the step's stdin. */
function interfaceIdOf(
  written: object | undefined,
  passed: object | undefined,
  { origin = "chain", definition = true }: { readonly origin?: Step["origin"]; readonly definition?: boolean } = {},
): string | undefined {
  const bare = { cniVersion: "1.0.0", name: "backend", type: "external-port", capabilities: { externalPort: true } };
  const plugin = parsePluginConf(JSON.stringify({ ...bare, runtimeConfig: written }), "test");
  if (!plugin.ok) throw new Error(plugin.fault.msg);
  const stdin = JSON.stringify({ ...bare, runtimeConfig: passed });
  const attachment = { containerId: "one", ifname: "net1" };
  const step = { index: 0, plugin: plugin.value, verb: "ADD", stdin, env: [], prevResult: undefined, attachment } as const;
  const bound = definition ? { definition: { namespace: "networks", name: "backend" } } : {};
  const call = { network: "networks.backend", ifname: "net1", callers: [], grants: {}, timeoutMs: 1, maxMs: 1 };
  return ovsScopeOf({ step, origin, ...bound, ...call, runDelegated }, { hostVeths: [] }).providedInterfaceId;
}

test("the interface ID of the external port is the one that the engine put into the step's configuration", () => {
  expect(interfaceIdOf(undefined, portOf("mine"))).toBe("mine");
  expect(interfaceIdOf(portOf("forged"), portOf("mine"))).toBe("mine");
  expect(interfaceIdOf(undefined, undefined)).toBeUndefined();
  expect(interfaceIdOf(undefined, { externalPort: { binding: { type: "vlan", vlan: 7 } } })).toBeUndefined();
  expect(interfaceIdOf(undefined, { externalPort: "mine" })).toBeUndefined();
});

test("an interface ID that a definition's author or another delegate wrote does not count", () => {
  expect(interfaceIdOf(portOf("forged"), portOf("forged"))).toBeUndefined();
  expect(interfaceIdOf(undefined, portOf("forged"), { origin: "delegate" })).toBeUndefined();
  expect(interfaceIdOf(undefined, portOf("forged"), { origin: "delegate", definition: false })).toBeUndefined();
});

test("an administrator's own runtimeConfig counts", () => {
  expect(interfaceIdOf(portOf("fixed"), portOf("fixed"), { definition: false })).toBe("fixed");
});
