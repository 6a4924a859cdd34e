import { expect, test } from "vitest";
import { inlineNetwork } from "../cni/inline-network.ts";
import { positionAt } from "../json/position.ts";
import type { LintNetwork } from "./finding.ts";
import { instanceAddresses, keepingPoolIn, type Machine, machineIn } from "./instance-addresses.ts";
import { locateNetwork } from "./locate-network.ts";

function network(object: string, plugin: object): LintNetwork {
  const text = JSON.stringify({ cniVersion: "1.0.0", name: "data", type: "bridge", ...plugin });
  const list = inlineNetwork(text, object, { name: "", cniVersion: "1.0.0" });
  if (!list.ok) throw new Error(list.fault.msg);
  const source = { file: "net.yaml", text, place: (offset: number) => positionAt(text, offset) };
  return { source, object, list: list.value, paths: locateNetwork(text, list.value) };
}

const networks = [
  { name: "default", pod: {} },
  { name: "data", multus: { networkName: "data" } },
];
const metadata = { name: "db", namespace: "shop" };
const machine: Machine = { what: "VirtualMachine shop/db", definitions: ["shop/data"] };
const pooled = { ipam: { type: "ipam-host-local", pool: "storage" } };

test("FI-24: a virtual machine's networks are read from both kinds of objects, in the machine's namespace or a named one", () => {
  expect(machineIn({ kind: "VirtualMachine", metadata, spec: { template: { spec: { networks } } } })).toEqual(machine);
  const elsewhere = [{ multus: { networkName: "infra/data" } }];
  expect(machineIn({ kind: "VirtualMachineInstance", metadata, spec: { networks: elsewhere } })).toEqual({
    what: "VirtualMachineInstance shop/db",
    definitions: ["infra/data"],
  });
  for (const object of [{ kind: "Pod", metadata }, {}, { kind: "AddressPool", metadata, spec: {} }])
    expect(machineIn(object)).toBeUndefined();
  expect(machineIn({ kind: "VirtualMachine", metadata: 5, spec: { template: [] } })?.definitions).toEqual([]);
});

const found = (each: LintNetwork, keeping: readonly string[] = []): readonly string[] =>
  instanceAddresses([each], [machine, machine], new Set(keeping)).map(
    ({ rule, object, message }) => `${rule} ${object} ${message}`,
  );

test("FI-24: a network of a virtual machine is found if its pool is not known to keep an address for an instance", () => {
  expect(found(network("shop/data", pooled))).toEqual([
    "instance-address shop/data ipam.pool: VirtualMachine shop/db and 1 more use this network, and AddressPool storage is not known to keep an address for an instance",
  ]);
  expect(found(network("shop/data", pooled), ["storage"])).toEqual([]);
  expect(found(network("shop/data", { ...pooled, allowPersistentIPs: true }))).toEqual([]);
  expect(found(network("shop/other", pooled))).toEqual([]);
  expect(found(network("shop/data", { ipam: { type: "ipam-host-local", subnet: "10.1.0.0/24" } }))).toEqual([]);
});

const pool = (keepInstanceAddresses: unknown): object => ({
  kind: "AddressPool",
  metadata: { name: "a" },
  spec: { keepInstanceAddresses },
});

test("FI-24: only an AddressPool that says so keeps addresses", () => {
  expect([true, false, "true", undefined].map((value) => keepingPoolIn({ ...pool(value) }))).toEqual([
    "a",
    undefined,
    undefined,
    undefined,
  ]);
});
