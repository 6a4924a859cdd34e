// Real virtual functions (SR-IOV) that are set, move into a pod and come back. `npm run vm -- test/node/capabilities/links/virtual-function.test.ts` runs
// it with an emulated adapter (igb).

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type DeviceStore, deviceFiles } from "../../../../host/capabilities/links/devices/device-store.ts";
import { type LinkTests, openLinkTests } from "../../../../host/capabilities/links/testing/link-tests.ts";
import type { LinksOperation, LinksVfSettings } from "../../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import type { LinkGrant } from "../../../../src/configuration/keys/grant-keys.ts";
import { createPodNamespace, missingPrivateNamespaces, type PodNamespace } from "../../../lab/namespaces.ts";
import { missing } from "../../../lab/requires.ts";
import {
  firstFunction,
  firstLinkOf,
  functionSettings,
  inFirstNamespace,
  moveFunction,
  until,
  virtualFunction,
  vlanOf,
} from "../../../lab/virtual-functions.ts";

describe.skipIf(missing("virtual functions", missingPrivateNamespaces, virtualFunction))("a virtual function", () => {
  let links: LinkTests;
  let pod: PodNamespace;
  let directory: string;
  let store: DeviceStore;
  let physical: string;
  let link: string;
  let mac: string | undefined;
  const vf = firstFunction() ?? { pci: "", physicalPci: "" };
  const { pci, physicalPci } = vf;

  const toNode = (name: string): void => void inFirstNamespace("ip", "link", "set", name, "netns", links.node.name);
  beforeEach(async () => {
    links = await openLinkTests();
    pod = createPodNamespace("vf");
    directory = mkdtempSync(join(tmpdir(), "plexus-devices-"));
    store = deviceFiles(directory);
    ({ link, physical } = await moveFunction(vf, links.node));
    mac = links.node.links().find(({ name }) => name === link)?.mac;
    untouched = settings();
  });
  afterEach(async () => {
    pod.dispose();
    await links.dispose();
    rmSync(directory, { recursive: true });
  });

  interface Terms {
    readonly containerId?: string;
    readonly verb?: "ADD" | "DEL" | "GC";
    readonly netns?: string;
    readonly grant?: LinkGrant;
    readonly in?: PodNamespace;
  }
  const wide: LinkGrant = { devices: [`pci:${pci}`], vfVlans: ["0", "7-8"], vfTrust: true };
  function call({ containerId = "c1", verb = "ADD", netns, grant = wide, in: where = pod }: Terms = {}) {
    return links.capability({
      ...(netns === undefined ? { pod: where } : { netns }),
      grant,
      verb,
      ifname: "net1",
      attachment: verb !== "GC",
      devices: { network: "net", containerId, store },
    }).capability;
  }

  const set = (settings: Partial<LinksVfSettings>): LinksOperation => ({
    tag: "set-vf",
    val: { pciAddress: pci, vlanServiceTag: false, ...settings },
  });
  const take: LinksOperation = { tag: "take-device", val: { device: { deviceId: pci }, name: "net1", keepAddresses: false } };
  const inPod = { place: "pod", name: "net1" } as const;
  const up: LinksOperation = { tag: "change-link", val: { link: inPod, up: true, alternativeNames: [] } };
  const podMac = "02:00:00:00:07:01";
  const withMac: LinksOperation = { tag: "change-link", val: { link: inPod, mac: podMac, alternativeNames: [] } };
  const giveBack: LinksOperation = { tag: "give-back", val: "net1" };
  const all: Partial<LinksVfSettings> = { mac: podMac, vlan: 7, vlanQos: 3, maxRate: 100, spoofCheck: false, trust: true };
  /** A function that was up has its own MAC at the physical function, too. */
  let untouched: Readonly<Record<string, unknown>>;

  const settings = (): Readonly<Record<string, unknown>> => functionSettings(links.node, physical);

  /** Ends the pod. The kernel returns the function. */
  const vanish = async (): Promise<void> => {
    pod.dispose();
    await until("the kernel returned the function", () => firstLinkOf(pci) !== "");
    toNode(firstLinkOf(pci));
    pod = createPodNamespace("vf");
  };

  test("is found with its physical function, moves into the pod by its PCI address, and comes back", async () => {
    const facts = { driver: "igbvf", pciAddress: pci, physicalFunction: physical };
    expect(links.valueOf(await call().findDevice({ deviceId: pci }))).toMatchObject({ link, mac, facts });
    const taken = links.valueOf(await call().apply([take, up]));
    expect(taken).toMatchObject([{ place: "pod", name: "net1", mac, up: true, device: { driver: "igbvf", pciAddress: pci } }]);
    expect([pod.links().map(({ name }) => name), links.node.links().some(({ name }) => name === link)]).toEqual([
      ["net1"],
      false,
    ]);
    expect(links.valueOf(await call({ verb: "DEL" }).apply([giveBack]))).toEqual([]);
    expect(pod.links()).toEqual([]);
    expect(links.node.links().find(({ name }) => name === link)).toMatchObject({ mac, up: false });
  });

  test("gets MAC, VLAN, rate, spoof check and trust, and loses them with the attachment", async () => {
    expect(untouched).toMatchObject({ spoofchk: true, trust: false });
    const taken = links.valueOf(await call().apply([set(all), take, withMac, up]));
    expect(taken).toMatchObject([{ mac: podMac, up: true }]);
    expect(settings()).toMatchObject({ address: podMac, spoofchk: false, trust: true, rate: { max_tx: 100 } });
    expect(vlanOf(settings())).toBe("7");
    expect(readdirSync(directory).length).toBe(2);
    links.valueOf(await call({ verb: "DEL" }).apply([giveBack]));
    expect(settings()).toEqual(untouched);
    expect(links.node.links().find(({ name }) => name === link)).toMatchObject({ mac, up: false });
    expect(readdirSync(directory)).toEqual([]);
    links.valueOf(await call({ verb: "DEL" }).apply([giveBack]));
  });

  test("a setting that the driver lacks, and a later failure, undo all settings and the move", async () => {
    const refused = await call().apply([set({ ...all, linkState: "enable" }), take]);
    expect(refused).toMatchObject({
      err: { msg: expect.stringMatching(/operation 0 \(set-vf\): setting the link state enable/u) },
    });
    const address: LinksOperation = { tag: "add-address", val: { link: inPod, address: "10.9.0.6/24", noDad: false } };
    const later = await call().apply([set(all), take, withMac, up, address, address]);
    expect(later).toMatchObject({ err: { msg: expect.stringContaining("operation 5 (add-address)") } });
    for (const outcome of [refused, later])
      expect(outcome).not.toMatchObject({ err: { details: expect.stringContaining("not undone") } });
    expect(settings()).toEqual(untouched);
    expect(links.node.links().find(({ name }) => name === link)).toMatchObject({ mac, up: false });
    expect(readdirSync(directory)).toEqual([]);
  });

  test("its settings are restored where the pod's namespace is gone: in DEL, in GC and in the next ADD", async () => {
    links.valueOf(await call().apply([set(all), take, withMac, up]));
    await vanish();
    links.valueOf(await call({ verb: "DEL", netns: "" }).apply([giveBack]));
    expect(settings()).toEqual(untouched);
    expect(links.node.links().find(({ name }) => name === link)).toMatchObject({ mac });

    links.valueOf(await call().apply([set(all), take, withMac, up]));
    await vanish();
    expect(links.valueOf(await call({ verb: "GC" }).retainDevices([{ containerId: "c1", ifname: "net1" }]))).toBe(0);
    expect(vlanOf(settings())).toBe("7");
    expect(links.valueOf(await call({ verb: "GC" }).retainDevices([]))).toBe(1);
    expect(settings()).toEqual(untouched);

    links.valueOf(await call().apply([set(all), take, withMac, up]));
    await vanish();
    links.valueOf(await call({ containerId: "c2" }).apply([set({ vlan: 8 }), take, up]));
    expect(settings()).toMatchObject({ spoofchk: true, trust: false, rate: { max_tx: 0 } });
    expect(vlanOf(settings())).toBe("8");
    links.valueOf(await call({ containerId: "c2", verb: "DEL" }).apply([giveBack]));
    expect(vlanOf(settings())).toBeUndefined();
    expect(links.node.links().find(({ name }) => name === link)).toMatchObject({ mac });
  });

  test("a pod that hides the function in another namespace does not get rid of its VLAN", async () => {
    links.valueOf(await call().apply([set({ vlan: 7 }), take, up]));
    const hiding = createPodNamespace("hiding");
    links.ip(`link set net1 netns ${hiding.name}`, pod);
    const outcome = await call({ verb: "DEL" }).apply([giveBack]);
    expect(outcome).toMatchObject({ err: { msg: expect.stringContaining("is in another network namespace") } });
    expect(vlanOf(settings())).toBe("7");
    links.ip(`link set net1 netns ${pod.name}`, hiding);
    hiding.dispose();
    links.valueOf(await call({ verb: "DEL" }).apply([giveBack]));
    expect(vlanOf(settings())).toBeUndefined();
  });

  test("is refused without a grant, to another attachment, in another verb, and where the device is no virtual function", async () => {
    const tries: readonly (readonly [string, Terms, Partial<LinksVfSettings>, string])[] = [
      ["no device", { grant: {} }, {}, "links.devices"],
      ["another device", { grant: { devices: ["pci:0000:ff:*"] } }, { mac: podMac }, "links.devices has pci:0000:ff:*"],
      ["no VLAN", { grant: { devices: [`pci:${pci}`] } }, { vlan: 7 }, "vfVlans"],
      ["another VLAN", {}, { vlan: 9 }, "VLAN 9"],
      ["trust", { grant: { ...wide, vfTrust: false } }, { trust: true }, "vfTrust"],
      ["no spoof check", { grant: { ...wide, vfTrust: false } }, { spoofCheck: false }, "vfTrust"],
      ["another verb", { verb: "DEL" }, { mac: podMac }, "in ADD only"],
      ["a physical function", { grant: { devices: ["pci:*"] } }, { pciAddress: physicalPci }, "is not a virtual function"],
      ["a missing device", { grant: { devices: ["pci:*"] } }, { pciAddress: "0000:ff:1f.7" }, "has no device"],
    ];
    for (const [title, terms, wanted, why] of tries)
      expect([title, await call(terms).apply([set(wanted)])]).toEqual([
        title,
        { err: expect.objectContaining({ msg: expect.stringContaining(why) }) },
      ]);
    expect(settings()).toEqual(untouched);
    links.valueOf(await call().apply([set({ vlan: 7 }), take]));
    const other = await call({ containerId: "c2" }).apply([set({ vlan: 8 })]);
    expect(other).toMatchObject({ err: { msg: expect.stringContaining("its link is in another network namespace") } });
    links.valueOf(await call({ verb: "DEL" }).apply([giveBack]));
  });
});
