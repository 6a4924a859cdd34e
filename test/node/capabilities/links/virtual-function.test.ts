// A real virtual function (SR-IOV) that moves into a pod and back, by its PCI address. `npm run vm -- test/node/capabilities/links/virtual-function.test.ts`
// runs it with an emulated adapter (igb), which QEMU has since 8.0.

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { deviceFiles } from "../../../../host/capabilities/links/devices/device-store.ts";
import { type LinkTests, openLinkTests } from "../../../../host/capabilities/links/testing/link-tests.ts";
import type { LinksOperation } from "../../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { createPodNamespace, missingPrivateNamespaces, type PodNamespace } from "../../../lab/namespaces.ts";
import { missing, type Requirement } from "../../../lab/requires.ts";

const driver = "/sys/bus/pci/drivers/igbvf";
const devices = "/sys/bus/pci/devices";

/** The PCI addresses of the machine's virtual functions. */
const functions = (): readonly string[] =>
  existsSync(driver) ? readdirSync(driver).filter((name) => existsSync(join(devices, name, "physfn"))) : [];
/** The name of a device's link in the machine's first network namespace. */
const linkOf = (pci: string): string => readdirSync(join(devices, pci, "net"))[0] ?? "";
const virtualFunction: Requirement = () => (functions().length > 0 ? undefined : "the machine has no virtual function of igb");

describe.skipIf(missing("virtual functions", missingPrivateNamespaces, virtualFunction))("a virtual function", () => {
  let links: LinkTests;
  let pod: PodNamespace;
  let directory: string;
  beforeEach(async () => {
    links = await openLinkTests();
    pod = createPodNamespace("vf");
    directory = mkdtempSync(join(tmpdir(), "plexus-devices-"));
  });
  // The kernel returns both functions to the machine's first namespace with the end of the node's.
  afterEach(async () => {
    pod.dispose();
    await links.dispose();
    rmSync(directory, { recursive: true });
  });

  test("is found with its physical function, moves into the pod by its PCI address, and comes back", async () => {
    const [pci = ""] = functions();
    const [link, physical] = [linkOf(pci), linkOf(basename(readlinkSync(join(devices, pci, "physfn"))))];
    for (const name of [link, physical])
      execFileSync("nsenter", ["--net=/proc/1/ns/net", "--", "ip", "link", "set", name, "netns", links.node.name]);
    const mac = links.node.links().find(({ name }) => name === link)?.mac;
    const { capability } = links.capability({
      pod,
      grant: { devices: [`pci:${pci}`] },
      ifname: "net1",
      devices: { network: "net", containerId: "c1", store: deviceFiles(directory) },
    });
    const facts = { driver: "igbvf", pciAddress: pci, physicalFunction: physical };
    expect(links.valueOf(await capability.findDevice({ deviceId: pci }))).toMatchObject({ link, mac, facts });
    const taking: LinksOperation[] = [
      { tag: "take-device", val: { device: { deviceId: pci }, name: "net1", keepAddresses: false } },
      { tag: "change-link", val: { link: { place: "pod", name: "net1" }, up: true, alternativeNames: [] } },
    ];
    const taken = links.valueOf(await capability.apply(taking));
    expect(taken).toMatchObject([{ place: "pod", name: "net1", mac, up: true, device: { driver: "igbvf", pciAddress: pci } }]);
    expect([pod.links().map(({ name }) => name), links.node.links().some(({ name }) => name === link)]).toEqual([
      ["net1"],
      false,
    ]);
    const setting: LinksOperation = { tag: "set-vf", val: { pciAddress: pci, vlan: 7, vlanServiceTag: false } };
    expect(await capability.apply([setting])).toMatchObject({ err: { msg: expect.stringContaining("set-vf") } });
    expect(links.valueOf(await capability.apply([{ tag: "give-back", val: "net1" }]))).toEqual([]);
    expect(pod.links()).toEqual([]);
    expect(links.node.links().find(({ name }) => name === link)).toMatchObject({ mac, up: false });
  });
});
