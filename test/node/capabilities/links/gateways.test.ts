// Gateways on bridges that others have made, in the kernel through a real shim; ip(8) and bridge(8) show the effect.

import { spawnSync } from "node:child_process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type LinkTests, openLinkTests } from "../../../../host/capabilities/links/testing/link-tests.ts";
import type { LinksOperation } from "../../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { createPodNamespace, missingPrivateNamespaces, type PodNamespace } from "../../../lab/namespaces.ts";
import { missing, type Requirement } from "../../../lab/requires.ts";

const vlanFiltering: Requirement = () =>
  spawnSync("unshare", ["--net", "ip", "link", "add", "b0", "type", "bridge", "vlan_filtering", "1"], { stdio: "ignore" })
    .status === 0
    ? undefined
    : "the kernel's bridges have no vlan_filtering";

const attaching = (gateway: string, replace = false): readonly LinksOperation[] => [
  { tag: "ensure-bridge", val: { name: "lt0", vlanFiltering: false } },
  { tag: "ensure-address", val: { link: { place: "host", name: "lt0" }, address: gateway, replace } },
  { tag: "add-veth", val: { name: "eth0", master: "lt0", vlans: [], keepDefaultVlan: false, up: true } },
];

describe.skipIf(missing("gateways", missingPrivateNamespaces))("a gateway on an existing bridge", () => {
  let links: LinkTests;
  const pods: PodNamespace[] = [];
  beforeEach(async () => {
    links = await openLinkTests();
  });
  afterEach(async () => {
    for (const pod of pods.splice(0)) pod.dispose();
    await links.dispose();
  });

  const grant = { bridges: ["lt0"] };
  const newPod = (): PodNamespace => {
    const pod = createPodNamespace("links");
    pods.push(pod);
    return pod;
  };
  const apply = (operations: readonly LinksOperation[], pod = newPod()) =>
    links.capability({ pod, grant }).capability.apply(operations);
  const addresses = (): readonly string[] => {
    const shown = links.ip("-6 -br address show dev lt0").trim().split(/\s+/u);
    return shown.slice(2).sort();
  };

  test("a link-local address of the kernel is no conflict of a link-local gateway, and stays", async () => {
    links.ip("link add lt0 address 02:00:00:00:00:07 type bridge");
    links.ip("link set lt0 up");
    // A bridge without a carrier gets no address.
    links.ip("link add p0 type veth peer name p1");
    links.ip("link set p0 master lt0 up");
    links.ip("link set p1 up");
    const own = "fe80::ff:fe00:7/64";
    // The kernel gives the address after it has seen the carrier.
    await expect.poll(addresses, { timeout: 60_000 }).toEqual([own]);
    for (const replace of [false, false, true]) {
      expect(await apply(attaching("fe80::1/64", replace))).toHaveProperty("ok");
      expect(addresses()).toEqual(["fe80::1/64", own]);
    }
    // The networks of other addresses must not overlap.
    expect(await apply(attaching("fd00:7::1/64"))).toHaveProperty("ok");
    expect(await apply(attaching("fd00:7::2/64"))).toMatchObject({
      err: { msg: expect.stringContaining("fd00:7::2/64 cannot be added") },
    });
  });

  test("of several addresses of the bridge each can be the gateway", async () => {
    links.ip("link add lt0 type bridge");
    for (const address of ["10.77.0.1/24", "10.78.0.1/24"]) links.ip(`address add ${address} dev lt0`);
    for (const address of ["10.78.0.1/24", "10.77.0.1/24"]) expect(await apply(attaching(address))).toHaveProperty("ok");
    expect(await apply(attaching("10.79.0.1/24"))).toMatchObject({
      err: { msg: expect.stringContaining("10.79.0.1/24 cannot be added") },
    });
  });

  test.skipIf(missing("VLAN gateways", vlanFiltering))("a VLAN gateway of a call that was killed is completed", async () => {
    links.ip("link add lt0 type bridge vlan_filtering 1");
    links.ip("link set lt0 up");
    links.ip("link add vethhalf address 02:00:00:00:00:02 type veth peer name lt0.7");
    links.ip("link set vethhalf master lt0 up");
    const pod = newPod();
    const operations: readonly LinksOperation[] = [
      { tag: "ensure-bridge", val: { name: "lt0", vlanFiltering: true } },
      { tag: "ensure-vlan-gateway", val: { bridge: "lt0", id: 7, keepDefaultVlan: false } },
      { tag: "ensure-address", val: { link: { place: "host", name: "lt0.7" }, address: "10.77.7.1/24", replace: false } },
      {
        tag: "add-veth",
        val: {
          name: "eth0",
          master: "lt0",
          vlans: [{ first: 7, last: 7, pvid: true, untagged: true }],
          keepDefaultVlan: false,
          up: true,
        },
      },
      { tag: "add-address", val: { link: { place: "pod", name: "eth0" }, address: "10.77.7.2/24", noDad: false } },
    ];
    expect(await apply(operations, pod)).toHaveProperty("ok");
    expect(pod.ping("10.77.7.1")).toBe(true);
    const vlans = links.node.exec(["bridge", "vlan", "show", "dev", "vethhalf"]).stdout;
    expect(vlans).toMatch(/\b7 PVID Egress Untagged/u);
    expect(vlans).not.toMatch(/\b1\b(?! PVID)/u);
  });
});
