import { expect, test } from "vitest";
import type { LinkGrant } from "../../../src/configuration/keys/grant-keys.ts";
import type { LinksVfSettings } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { checkOperations } from "./check-operations.ts";
import type { LinkScope } from "./link-scope.ts";

const devices = ["driver:iavf"];

function refusal(grant: LinkGrant, settings: Partial<LinksVfSettings>, scope: Partial<LinkScope> = {}): string | undefined {
  const attachment = { ifname: "net1", netns: "/run/netns/one" };
  const checked = checkOperations({ type: "sriov", grant, verb: "ADD", attachment, ...scope }, [
    { tag: "set-vf", val: { pciAddress: "0000:3b:02.1", vlanServiceTag: false, ...settings } },
  ]);
  return checked.ok ? undefined : `${checked.fault.kind} ${checked.fault.msg}`;
}

function denied(key: string, request: string): string {
  return `NOT_GRANTED links: operation 0 (set-vf): virtual function 0000:3b:02.1${request} is not granted: wasm.grants.sriov.links.${key} `;
}

test("a virtual function needs a grant of devices, its VLAN one of VLANs, and trust and a missing spoof check one of trust", () => {
  expect(refusal({}, { mac: "02:00:00:00:00:01" })).toContain(denied("devices", ""));
  expect(refusal({ devices }, { vlan: 7 })).toContain(denied("vfVlans", ": VLAN 7"));
  expect(refusal({ devices, vfVlans: ["1-6", "8"] }, { vlan: 7 })).toContain(denied("vfVlans", ": VLAN 7"));
  expect(refusal({ devices, vfVlans: ["1-4094"] }, { vlan: 0 })).toContain(denied("vfVlans", ": VLAN 0"));
  expect(refusal({ devices }, { trust: true })).toContain(denied("vfTrust", ": its trust"));
  expect(refusal({ devices, vfTrust: false }, { spoofCheck: false })).toContain(denied("vfTrust", ": no spoof check"));
  expect(refusal({ devices }, { trust: false, spoofCheck: true, maxRate: 5, linkState: "disable" })).toBeUndefined();
  expect(refusal({ devices, vfVlans: ["7"], vfTrust: true }, { vlan: 7, trust: true, spoofCheck: false })).toBeUndefined();
});

test("a virtual function is set in ADD with a pod only", () => {
  const misuse =
    "CAPABILITY_MISUSED links: operation 0 (set-vf): virtual function 0000:3b:02.1: a virtual function is set in ADD only";
  expect(refusal({ devices }, {}, { verb: "DEL" })).toContain(misuse);
  expect(refusal({ devices }, {}, { attachment: { ifname: "net1", netns: "" } })).toContain(misuse);
});

test("an SELinux context of a tap needs a grant", () => {
  const attachment = { ifname: "net1", netns: "/run/netns/one" };
  const refusalOf = (selinuxContexts: readonly string[] | undefined, selinuxContext: string): string | undefined => {
    const grant = selinuxContexts === undefined ? {} : { selinuxContexts };
    const checked = checkOperations({ type: "tap", grant, verb: "ADD", attachment }, [
      { tag: "add-tap", val: { name: "net1", multiQueue: false, selinuxContext } },
    ]);
    return checked.ok ? undefined : `${checked.fault.kind} ${checked.fault.msg}`;
  };
  const context = "system_u:system_r:machine_t:s0:c1,c2";
  expect(refusalOf(["system_u:system_r:machine_t:*"], context)).toBeUndefined();
  for (const granted of [undefined, [], ["system_u:system_r:other_t:*"]])
    expect(refusalOf(granted, context)).toContain("NOT_GRANTED links: operation 0 (add-tap): the SELinux context");
  for (const malformed of ["", "a b", "a/b", "c".repeat(256)])
    expect(refusalOf(["*"], malformed)).toMatch(/^CAPABILITY_MISUSED .*is not an SELinux context$/u);
});
