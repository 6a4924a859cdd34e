// Plexus beside KubeVirt, whose network steps in a pod a script plays (test/lab/surroundings/kubevirt/virt-launcher.ts): a virtual machine takes over the
// link of an attachment (FI-15). With the native bridge and with the component.

import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Finding } from "../../../host/node/reconcile/finding.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { type Manifests, manifestsIn } from "../../lab/manifests.ts";
import { inHost, leases, type PodNamespace } from "../../lab/namespaces.ts";
import type { InstallationInit } from "../../lab/plexus.ts";
import { ReconcileNode } from "../../lab/reconcile-node.ts";
import { iproute2, linkType, mappedId, missing, privateNamespaces, referencePlugins, tunDevice } from "../../lab/requires.ts";
import { type Attaching, fullGrant } from "../../lab/stage.ts";
import {
  bindToMachine,
  machineLinks,
  machineUser,
  podInterfaceOf,
  unbindFromMachine,
} from "../../lab/surroundings/kubevirt/virt-launcher.ts";

const native = ["bridge", "host-local"] as const;
const unable = missing(
  "virtual machines of KubeVirt",
  privateNamespaces,
  iproute2,
  linkType("veth"),
  linkType("bridge"),
  tunDevice,
  mappedId(machineUser),
  referencePlugins(...native),
);

interface Variant {
  readonly title: string;
  readonly installation: InstallationInit;
  readonly bridge: string;
  readonly ipam: string;
}
const variants: readonly Variant[] = [
  { title: "native bridge", installation: { native, components: [] }, bridge: "bridge", ipam: "host-local" },
  {
    title: "component bridge-adapter",
    installation: { native: [], components: ["bridge-adapter", "ipam-host-local"] },
    bridge: "bridge-adapter",
    ipam: "ipam-host-local",
  },
];

type Machine = Attaching & { readonly pod: PodNamespace; readonly containerId: string };

/** The pod's interface for the network of the virtual machine. */
const nic = podInterfaceOf("storage");
const names = machineLinks(nic);
const soon = { interval: 20, timeout: 60_000 };

/** One node with a network `storage` on a bridge of its own. */
class MachineNode {
  readonly node: ReconcileNode;
  readonly manifests: Manifests;
  readonly #variant: Variant;

  constructor(variant: Variant) {
    this.#variant = variant;
    this.node = new ReconcileNode(variant.installation);
    const { stage } = this.node;
    this.manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
    this.manifests.network("storage", [{ ...this.#step("br-storage", "10.20.0.0/24"), capabilities: { ips: true } }]);
  }

  #step(bridge: string, subnet: string): object {
    const { stage } = this.node;
    const directory = this.#variant.ipam === "host-local" ? { dataDir: stage.leases } : {};
    return { type: this.#variant.bridge, bridge, ipam: { type: this.#variant.ipam, ranges: [[{ subnet }]], ...directory } };
  }

  /** Attaches the pod virt-launcher, with an address of its reservation if given, and starts the virtual machine in it. */
  async start(name: string, address?: string): Promise<Machine> {
    const { stage } = this.node;
    const ips = address === undefined ? {} : { ips: [address] };
    this.manifests.pod(name, [{ name: "storage", interface: nic, ...ips }]);
    const wasm = {
      grants: {
        "bridge-adapter": {
          log: {},
          links: { bridges: ["br0", "br-storage"] },
          delegation: { plugins: ["ipam-host-local"] },
          firewall: {},
        },
        "ipam-host-local": fullGrant(stage.leases),
      },
    };
    const config = stage.network([this.#step("br0", "10.10.0.0/24")], {
      manifests: this.manifests.directory,
      hotPlug: true,
      wasm,
    });
    const machine = { config, containerId: name, pod: stage.pod(), args: this.manifests.argsOf(name) };
    await this.node.succeed("ADD", machine);
    bindToMachine(machine.pod, nic);
    return machine;
  }

  /** The ports of the bridge br-storage of the node. */
  ports(): readonly string[] {
    const links = this.node.stage.node.links();
    return links.flatMap(({ name, master }) => (master === "br-storage" && !name.startsWith("wire") ? [name] : []));
  }

  /** The leases of the network `storage`. */
  storageLeases(): readonly string[] {
    return leases(this.node.stage.leases).filter((path) => path.startsWith("storage/"));
  }
}

const linksOf = ({ pod }: Machine): readonly string[] =>
  pod
    .links()
    .map(({ name }) => name)
    .toSorted();
const expectLinks = (machine: Machine, ...expected: readonly string[]): Promise<void> =>
  expect.poll(() => linksOf(machine), soon).toEqual(["eth0", ...expected].toSorted());
const bound = [names.nic, names.bridge, names.tap, names.placeholder];

describe.skipIf(unable).each(variants)("a virtual machine of KubeVirt, with $title", (variant) => {
  let here: MachineNode;
  const others: MachineNode[] = [];
  beforeEach(async () => {
    here = new MachineNode(variant);
    await here.node.start();
    await here.node.startAgent();
  });
  afterEach(async () => {
    await here.node.dispose();
    for (const other of others.splice(0)) await other.node.dispose();
  });

  test("FI-15: the script gives the attachment's link, its address and its name to three links, as KubeVirt does", async () => {
    const machine = await here.start("vm");
    await expectLinks(machine, ...bound);
    const links = machine.pod.links();
    expect(links.flatMap(({ name, master }) => (master === names.bridge ? [name] : [])).toSorted()).toEqual(
      [names.nic, names.tap].toSorted(),
    );
    expect(machine.pod.addresses()).toContainEqual(expect.objectContaining({ link: nic, address: "10.20.0.2/24" }));
  });

  test("FI-15: hot-unplug removes the link under its new name, and frees the address then only", async () => {
    const machine = await here.start("vm");
    unbindFromMachine(machine.pod, nic);
    await expectLinks(machine, names.nic);
    here.manifests.pod("vm");
    await expectLinks(machine);
    await expect.poll(() => [here.storageLeases(), here.ports()], soon).toEqual([[], []]);
    // The next virtual machine gets an address that no link has.
    const next = await here.start("next");
    expect([here.ports(), here.storageLeases()]).toEqual([[expect.any(String)], [expect.any(String)]]);
    await here.node.call("DEL", next);
    await here.node.call("DEL", machine);
  });

  test("FI-15: hot-unplug before KubeVirt removed its links leaves those alone", async () => {
    const machine = await here.start("vm");
    here.manifests.pod("vm");
    await expectLinks(machine, names.bridge, names.tap, names.placeholder);
    await expect.poll(() => [here.storageLeases(), here.ports()], soon).toEqual([[], []]);
    await here.node.call("DEL", machine);
    expect(linksOf(machine)).toEqual([names.bridge, names.tap, names.placeholder].toSorted());
  });

  test("FI-15: DEL with a living namespace removes the attachments' links, and no link of the virtual machine", async () => {
    const machine = await here.start("vm");
    const answer = await here.node.call("DEL", machine);
    expect([answer.status, answer.stdout]).toEqual([0, ""]);
    expect(linksOf(machine)).toEqual([names.bridge, names.tap, names.placeholder].toSorted());
    expect([here.ports(), leases(here.node.stage.leases)]).toEqual([[], []]);
    // A runtime repeats DEL.
    expect((await here.node.call("DEL", { ...machine, pod: "" })).status).toBe(0);
  });

  test("FI-15: CHECK fails and names the interface that the virtual machine took over, and changes nothing", async () => {
    const machine = await here.start("vm");
    const before = [linksOf(machine), here.ports(), leases(here.node.stage.leases)];
    const answer = await here.node.call("CHECK", machine);
    expect(answer.status).toBe(1);
    expect(JSON.stringify(answer.json)).toContain(nic);
    expect([linksOf(machine), here.ports(), leases(here.node.stage.leases)]).toEqual(before);
    await here.node.call("DEL", machine);
  });

  test("FI-15: a lost namespace frees both addresses in a round, without a DEL", async () => {
    const machine = await here.start("vm");
    await here.node.round();
    expect(leases(here.node.stage.leases)).toHaveLength(2);
    machine.pod.dispose();
    await expect.poll(() => here.ports(), soon).toEqual([]);
    await expect
      .poll(async () => (await here.node.round()).findings.map(({ why, handling }: Finding) => `${why} ${handling}`), soon)
      .toContain("namespace-gone cleaned");
    expect(leases(here.node.stage.leases)).toEqual([]);
    await here.node.call("DEL", { ...machine, pod: "" });
  });

  test("FI-15 FI-24: after a migration, the source's DEL leaves the target's pod with the same address alone", async () => {
    const there = new MachineNode(variant);
    others.push(there);
    await there.node.start();
    await there.node.startAgent();
    const source = await here.start("source", "10.20.0.77/24");
    // One segment over both nodes.
    const [one, two] = [here.node.stage.node.name, there.node.stage.node.name];
    inHost(["ip", "link", "add", "wire0", "netns", one, "type", "veth", "peer", "name", "wire0", "netns", two]);
    here.node.stage.node.exec(["ip", "link", "set", "wire0", "master", "br-storage", "up"]);
    const target = await there.start("target", "10.20.0.77/24");
    there.node.stage.node.exec(["ip", "link", "set", "wire0", "master", "br-storage", "up"]);
    for (const { pod } of [source, target])
      expect(pod.addresses()).toContainEqual(expect.objectContaining({ link: nic, address: "10.20.0.77/24" }));
    const answer = await here.node.call("DEL", source);
    expect([answer.status, here.storageLeases(), here.ports()]).toEqual([0, [], []]);
    await expectLinks(target, ...bound);
    expect([there.storageLeases(), there.ports()]).toEqual([["storage/10.20.0.77"], [expect.any(String)]]);
    const status = there.manifests.statusOf("target");
    const entries = Array.isArray(status) ? status.filter(isJsonObject) : [];
    expect(entries).toContainEqual(expect.objectContaining({ interface: nic, ips: ["10.20.0.77"] }));
    await there.node.call("DEL", target);
    expect(there.storageLeases()).toEqual([]);
  });
});
