// Devices of the node that move into a pod and back: `take-device`, `give-back`, `find-device`, `retain-devices`. A veth whose other end stays on the
// node stands for a device, because the machine's own devices are not the test's.

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type DeviceStore, deviceFiles } from "../../../../host/capabilities/links/devices/device-store.ts";
import { type LinkTests, openLinkTests } from "../../../../host/capabilities/links/testing/link-tests.ts";
import type { LinksOperation, LinksTaking } from "../../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import type { PodSide } from "../../../../host/capabilities/links/link-scope.ts";
import { createPodNamespace, missingPrivateNamespaces, type PodNamespace } from "../../../lab/namespaces.ts";
import { missing } from "../../../lab/requires.ts";

const take = (taking: Partial<LinksTaking> = {}): LinksOperation => ({
  tag: "take-device",
  val: { device: { name: "dev0" }, name: "net1", keepAddresses: false, ...taking },
});
const giveBack: LinksOperation = { tag: "give-back", val: "net1" };
const up: LinksOperation = { tag: "change-link", val: { link: { place: "pod", name: "net1" }, up: true, alternativeNames: [] } };
const mac = "02:00:00:00:00:d0";

describe.skipIf(missing("devices of the node", missingPrivateNamespaces))("devices of the node", () => {
  let links: LinkTests;
  let pod: PodNamespace;
  let directory: string;
  let store: DeviceStore;
  beforeEach(async () => {
    links = await openLinkTests();
    pod = createPodNamespace("device");
    directory = mkdtempSync(join(tmpdir(), "plexus-devices-"));
    store = deviceFiles(directory);
    links.ip(`link add dev0 address ${mac} mtu 1400 type veth peer name dev1`);
    links.ip("link property add dev dev0 altname enp0s1");
    links.ip("link set dev0 up alias uplink");
    links.ip("address add 10.9.0.5/24 dev dev0");
  });
  afterEach(async () => {
    pod.dispose();
    await links.dispose();
    rmSync(directory, { recursive: true });
  });

  function inPod(
    terms: {
      readonly containerId?: string;
      readonly verb?: "ADD" | "DEL" | "GC";
      readonly netns?: string;
      readonly pod?: PodNamespace;
      readonly devices?: readonly string[];
      readonly ownLinks?: PodSide["ownLinks"];
    } = {},
  ) {
    const { containerId = "c1", verb = "ADD", devices = ["dev0"], ownLinks, ...rest } = terms;
    return links.capability({
      ...("netns" in rest ? { netns: rest.netns ?? "" } : { pod: rest.pod ?? pod }),
      grant: { devices },
      verb,
      ifname: "net1",
      attachment: verb !== "GC",
      ownLinks,
      devices: { network: "net", containerId, store },
    }).capability;
  }

  interface Shown {
    readonly ifname: string;
    readonly address: string;
    readonly mtu: number;
    readonly altnames?: readonly string[];
    readonly flags: readonly string[];
    readonly addr_info: readonly { readonly local: string; readonly scope: string }[];
  }

  /** The device by ip(8), without what depends on the carrier. */
  function shown(name: string, where?: PodNamespace) {
    const [link] = JSON.parse(links.ip(`-j address show dev ${name}`, where)) as Shown[];
    if (link === undefined) throw new Error(`no ${name}`);
    const [{ ifalias } = {}] = JSON.parse(links.ip(`-j link show dev ${name}`, where)) as { readonly ifalias?: string }[];
    const { ifname, address, mtu, altnames, flags, addr_info: addresses } = link;
    const global = addresses.filter(({ scope }) => scope === "global").map(({ local }) => local);
    return { ifname, address, mtu, ifalias, altnames, up: flags.includes("UP"), global };
  }

  const before = {
    ifname: "dev0",
    address: mac,
    mtu: 1400,
    ifalias: "uplink",
    altnames: ["enp0s1"],
    up: true,
    global: ["10.9.0.5"],
  };

  test("a device moves into the pod under another name, and back with its name, MAC, MTU, addresses, names and state", async () => {
    const [taken] = links.valueOf(await inPod().apply([take(), up]));
    expect(taken).toMatchObject({ place: "pod", name: "net1", kind: "veth", mac, mtu: 1400, up: true, addresses: [] });
    expect(taken?.peerIndex).toBe(JSON.parse(links.ip("-j link show dev dev1"))[0].ifindex);
    expect(shown("net1", pod)).toMatchObject({ ifalias: "dev0", global: [] });
    expect(readdirSync(directory)).toEqual(["c1:net1:net1.json"]);
    links.ip("link set net1 down", pod);
    links.ip("link set net1 address 02:00:00:00:00:99 mtu 1300 name other", pod);
    links.ip("link property add dev other altname podname", pod);
    links.valueOf(await inPod({ verb: "DEL" }).apply([giveBack]));
    expect(shown("dev0")).toEqual(before);
    expect(readdirSync(directory)).toEqual([]);
    links.valueOf(await inPod({ verb: "DEL" }).apply([giveBack]));
  });

  test("the pod's link keeps the device's addresses if asked, and a device is found by its alternative name and its MAC", async () => {
    const byAltname = await inPod().apply([
      take({ device: { name: "enp0s1", mac: mac.toUpperCase() }, keepAddresses: true }),
      up,
    ]);
    expect(links.valueOf(byAltname)).toMatchObject([{ addresses: [{ address: "10.9.0.5/24" }] }]);
    links.valueOf(await inPod({ verb: "DEL" }).apply([giveBack]));
    expect(links.valueOf(await inPod().findDevice({ mac }))).toMatchObject({ link: "dev0", mac, facts: { rdmaDevices: [] } });
    expect(links.valueOf(await inPod().findDevice({ deviceId: "0000:ff:1f.7" }))).toBeUndefined();
  });

  test("a failed apply returns the device as it was", async () => {
    const failing: LinksOperation = {
      tag: "add-address",
      val: { link: { place: "pod", name: "net1" }, address: "10.9.0.6/24", noDad: false },
    };
    const outcome = await inPod().apply([take(), up, failing, failing]);
    expect(outcome).toMatchObject({ err: { msg: expect.stringContaining("operation 3 (add-address)") } });
    expect(outcome).not.toMatchObject({ err: { details: expect.stringContaining("not undone") } });
    expect(shown("dev0")).toEqual(before);
    expect(readdirSync(directory)).toEqual([]);
  });

  test("a device that another attachment has, and a name that the pod has, are faults and change nothing", async () => {
    links.valueOf(await inPod().apply([take()]));
    const other = createPodNamespace("other");
    try {
      const outcome = await inPod({ containerId: "c2", pod: other }).apply([take()]);
      expect(outcome).toMatchObject({ err: { msg: expect.stringContaining("belongs to container c1, network net, as net1") } });
      links.valueOf(await inPod({ verb: "DEL" }).apply([giveBack]));
      links.ip("link add net1 type veth peer name net2", other);
      expect(await inPod({ containerId: "c2", pod: other }).apply([take()])).toMatchObject({
        err: { msg: expect.stringContaining("EEXIST") },
      });
      expect(shown("dev0")).toEqual(before);
    } finally {
      other.dispose();
    }
  });

  test("a device that the kernel returned to the node gets its name and state back there, in DEL, in GC and in the next ADD", async () => {
    // The kernel returns hardware to the first network namespace under the name that it had in the pod, or as devN. The move does the same to a veth.
    const returnByHand = (): string => {
      links.ip("link set net1 down", pod);
      return links.ip(`link set net1 netns ${links.node.name} name dev77`, pod);
    };
    links.valueOf(await inPod().apply([take(), up]));
    returnByHand();
    links.valueOf(await inPod({ verb: "DEL", netns: "" }).apply([giveBack]));
    expect(shown("dev0")).toEqual(before);

    links.valueOf(await inPod().apply([take(), up]));
    returnByHand();
    expect(links.valueOf(await inPod({ verb: "GC" }).retainDevices([{ containerId: "c1", ifname: "net1" }]))).toBe(0);
    expect(links.valueOf(await inPod({ verb: "GC" }).retainDevices([]))).toBe(1);
    expect(shown("dev0")).toEqual(before);

    links.valueOf(await inPod().apply([take(), up]));
    returnByHand();
    links.valueOf(await inPod({ containerId: "c2", devices: ["dev*"] }).apply([take({ device: { mac } })]));
    links.valueOf(await inPod({ containerId: "c2", verb: "DEL" }).apply([giveBack]));
    expect(shown("dev0")).toEqual(before);
  });

  test("a damaged record blocks the device that may be its own, and no other; GC returns the others and reports the record", async () => {
    const damaged = "c9:net1:lost0.json";
    writeFileSync(join(directory, damaged), "{");
    links.ip("link set dev0 name nic0");
    const nic = { devices: ["*"] };
    const taking = take({ device: { name: "nic0" } });
    links.valueOf(await inPod(nic).apply([taking]));
    const absent = await inPod({ ...nic, containerId: "c2" }).apply([taking]);
    expect(absent).toMatchObject({
      err: { msg: expect.stringMatching(/belongs to container c1.*c9:net1:lost0\.json is not the record/u) },
    });
    const unreadable = { err: { msg: expect.stringContaining(`${damaged} is not the record of a device`) } };
    expect(await inPod({ ...nic, verb: "GC" }).retainDevices([])).toMatchObject(unreadable);
    expect(readdirSync(directory)).toEqual([damaged]);
    expect(shown("nic0")).toMatchObject({ address: mac, up: true });
    // The kernel returns a device under its name in the pod, or under a name of its own.
    for (const [name, next] of [
      ["nic0", "lost0"],
      ["lost0", "dev7"],
    ] as const) {
      links.ip(`link set ${name} name ${next}`);
      expect(await inPod(nic).apply([take({ device: { name: next } })])).toMatchObject(unreadable);
    }
  });

  test("devices above one lower link are told apart, and those of a vanished pod are not looked for among the node's others", async () => {
    const other = createPodNamespace("other");
    try {
      for (const name of ["mv0", "mv1", "mv2"]) links.ip(`link add link dev0 name ${name} type macvlan mode bridge`);
      links.ip("link set mv2 up");
      const kept = shown("mv2");
      const devices = ["mv0", "mv1"];
      links.valueOf(await inPod({ devices }).apply([take({ device: { name: "mv0" } })]));
      links.valueOf(await inPod({ devices, containerId: "c2", pod: other }).apply([take({ device: { name: "mv1" } })]));
      links.valueOf(await inPod({ devices, containerId: "c2", pod: other, verb: "DEL" }).apply([giveBack]));
      expect(shown("mv1")).toMatchObject({ ifname: "mv1", up: false });
      pod.dispose();
      links.valueOf(await inPod({ devices, verb: "DEL", netns: "" }).apply([giveBack]));
      expect([shown("mv1").ifname, shown("mv2")]).toEqual(["mv1", kept]);
      expect(readdirSync(directory)).toEqual([]);
    } finally {
      other.dispose();
    }
  });

  test("a name that a link of the node has got meanwhile is a fault that changes nothing, until that link has another name", async () => {
    links.valueOf(await inPod().apply([take()]));
    links.ip("link add dev0 type veth peer name dev2");
    const outcome = await inPod({ verb: "DEL" }).apply([giveBack]);
    expect(outcome).toMatchObject({
      err: { msg: expect.stringContaining("link dev0 of the node has the name dev0 of the device") },
    });
    expect(links.ip("-o link", pod)).toContain("net1");
    links.ip("link set dev0 name dev3");
    links.valueOf(await inPod({ verb: "DEL" }).apply([giveBack]));
    expect(shown("dev0")).toEqual(before);
  });

  test("a device without a record goes by its alias, if the ADD made the link and the grant names the device", async () => {
    const moveByHand = (): number => {
      links.ip(`link set dev0 netns ${pod.name} name net1`);
      links.ip("link set net1 alias dev0", pod);
      return (JSON.parse(links.ip("-j link show dev net1", pod)) as { readonly ifindex: number }[])[0]?.ifindex ?? 0;
    };
    const index = moveByHand();
    const own = { name: "net1", index, kind: "veth", mac };
    links.valueOf(await inPod({ verb: "DEL" }).apply([giveBack]));
    links.valueOf(await inPod({ verb: "DEL", ownLinks: [{ ...own, index: index + 1 }] }).apply([giveBack]));
    links.valueOf(await inPod({ verb: "DEL", ownLinks: [own], devices: ["eth*"] }).apply([giveBack]));
    expect(links.ip("-o link", pod)).toContain("net1");
    links.valueOf(await inPod({ verb: "DEL", ownLinks: [own] }).apply([giveBack]));
    expect(shown("dev0")).toMatchObject({ ifname: "dev0", address: mac, up: false });
  });

  test("only granted devices move; a wildcard does not mean the node's end of a pod's veth; other verbs take nothing", async () => {
    links.ip(`link add veth9 type veth peer name eth0 netns ${pod.name}`);
    const denied = { err: { msg: expect.stringContaining("links.devices") } };
    expect(await inPod({ devices: ["eth*"] }).apply([take()])).toMatchObject(denied);
    expect(await inPod({ devices: [] }).apply([take()])).toMatchObject(denied);
    expect(await inPod({ devices: ["*", "mac:03:*"] }).apply([take({ device: { name: "veth9" } })])).toMatchObject(denied);
    expect(await inPod({ devices: ["*"] }).apply([take({ device: { name: "lo" } })])).toMatchObject(denied);
    expect(await inPod({ devices: ["eth*"] }).findDevice({ name: "dev0" })).toMatchObject(denied);
    expect(await inPod({ verb: "DEL" }).apply([take()])).toMatchObject({ err: { msg: expect.stringContaining("ADD only") } });
    expect(await inPod().retainDevices([])).toMatchObject({ err: { msg: expect.stringContaining("GC only") } });
    expect(await inPod().apply([take({ device: {} })])).toMatchObject({
      err: { msg: expect.stringContaining("no name, MAC, ID or path") },
    });
    expect(await inPod().apply([take({ device: { kernelPath: "/sys/devices/../kernel" } })])).toMatchObject({
      err: { msg: expect.stringContaining("not below /sys/devices/") },
    });
    expect(shown("dev0")).toEqual(before);
  });
});
