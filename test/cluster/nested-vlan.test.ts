// Neutron's driver nested-vlan end to end: subports of the node's trunk in a real OVN, plugged as VLAN links of the node's uplink. The node is a machine of
// the fabric: a hypervisor's Open vSwitch, in a network namespace of its own, has the other end of the uplink.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { externalPortName, readExternalPort } from "../../features/external-ports/rules/external-port.ts";
import type { ProvidedPort } from "../../features/external-ports/rules/provided-port.ts";
import type { Stage } from "../lab/stage.ts";
import { startController, type TestController } from "../lab/controller.ts";
import { applyObjects, objectsOf } from "../lab/kube/apply.ts";
import { type ApiServer, startApiServer } from "../lab/kube/api-server.ts";
import { networkRequests, portRequests } from "../lab/kube/network-requests.ts";
import { createPodNamespace, type PodNamespace } from "../lab/namespaces.ts";
import { type FaultProxy, startFaultProxy } from "../lab/neutron/fault-proxy.ts";
import { type Neutron, startNeutron } from "../lab/neutron/neutron.ts";
import { missingNeutron } from "../lab/neutron/packages.ts";
import { linkType, missing } from "../lab/requires.ts";
import { sniff } from "../lab/sniffed.ts";
import { missingForKube, openNodeStage } from "../lab/kube/node.ts";
import { fabricComponents, type FabricNode, type FabricPod, openFabricNode } from "./fabric-node.ts";

/** The node of `ApiServer.pod`. */
const nodeName = "node";
/** The node's link that leads to the fabric, and its other end. */
const uplink = "eth1";
const hypervisorEnd = "tap0";
/** Both networks have the same addresses, so that only the VLAN tells their pods apart. */
const cidr = "10.9.0.0/24";
const gateway = "10.9.0.1";
const anyEthertype = 3;

/** A plugged pod with its port. */
interface VlanPod extends FabricPod {
  readonly port: ProvidedPort;
}

/** The VLAN of the pod's link, or undefined if the link is of another kind. */
function vlanOf(pod: PodNamespace): number | undefined {
  const { stdout } = pod.exec(["ip", "-d", "-j", "link", "show", "net1"]);
  const [link] = JSON.parse(stdout) as readonly { readonly linkinfo?: { info_kind: string; info_data?: { id?: number } } }[];
  return link?.linkinfo?.info_kind === "vlan" ? link.linkinfo.info_data?.id : undefined;
}

function hexOf(address: string): string {
  return Buffer.from(address.split(".").map(Number)).toString("hex");
}

const unable = missingForKube("VLAN subports of Neutron");

describe.skipIf(missing("VLAN subports of Neutron", missingNeutron, linkType("vlan")) || unable)(
  "subports of the node's trunk",
  () => {
    let directory: string;
    let hypervisor: PodNamespace;
    let stage: Stage;
    let node: FabricNode;
    let api: ApiServer;
    let objects: ApiObjects;
    let neutron: Neutron;
    /** Sends the requests one after the other, because SQLite has one writer. */
    let proxy: FaultProxy;
    let controller: TestController;
    let trunk: string;

    const soon = <T>(check: () => Promise<T>): Promise<T> =>
      vi.waitFor(check, { timeout: 60_000, interval: 100 }).catch((error: unknown) => {
        throw new Error(`${String(error)}\n${controller.stderr()}`, { cause: error });
      });
    const readyPort = (uid: string): Promise<ProvidedPort> =>
      soon(async () => {
        const path = `/apis/plexus.dev/v1alpha1/namespaces/shop/externalports/${externalPortName(uid, 0)}`;
        const answer = await objects.get(path);
        const read = answer.kind === "object" ? readExternalPort(answer.object) : undefined;
        const { port, conditions } = read?.ok === true ? read.value : { port: undefined, conditions: [] };
        expect(conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "True" }));
        if (port === undefined) throw new Error(`the port of ${uid} is Ready without values`);
        return port;
      });
    const plug = async (name: string, network: string, address: string): Promise<VlanPod> => {
      let port: ProvidedPort | undefined;
      const pod = await node.plug(name, [{ name: network, ips: [address] }], async (uid) => (port = await readyPort(uid)));
      return { ...pod, port: port as ProvidedPort };
    };
    const subports = async (): Promise<readonly (readonly [string, number])[]> =>
      (await neutron.request("GET", `/trunks/${trunk}`)).trunk.sub_ports.map((each) => [each.port_id, each.segmentation_id]);
    /** DEL of all, and the release of their ports when their pods are deleted. */
    const unplug = async (pods: readonly VlanPod[], names: readonly string[]): Promise<void> => {
      for (const { attaching } of pods) await node.succeed("DEL", attaching);
      expect(pods.map(({ attaching }) => attaching.pod.links())).toEqual(pods.map(() => []));
      await Promise.all(names.map((name) => api.deletePod("shop", name)));
      await soon(async () => expect((await neutron.request("GET", "/ports?tags=plexus-owner:test")).ports).toEqual([]));
      expect(await subports()).toEqual([]);
    };

    beforeAll(async () => {
      directory = mkdtempSync(join(tmpdir(), "plexus-nested-vlan-"));
      hypervisor = createPodNamespace("hypervisor");
      stage = openNodeStage([], fabricComponents);
      [api, neutron] = await Promise.all([
        startApiServer({ alsoAllowed: [...networkRequests, ...portRequests] }),
        startNeutron({ name: nodeName, netns: hypervisor.path }),
      ]);
      proxy = await startFaultProxy(neutron.url);
      objects = objectsOf(api.adminKubeconfig);
      await applyObjects(objects, "deploy/helm/plexus/files/external-ports.yaml");
      node = openFabricNode(stage, api, neutron, { links: { parents: [uplink] } });
      const plugin = { type: "external-port", master: uplink, capabilities: { externalPort: true } };
      const subnets: string[] = [];
      for (const name of ["blue", "red"]) {
        const network = (await neutron.request("POST", "/networks", { network: { name } })).network.id;
        const body = { network_id: network, ip_version: 4, cidr, gateway_ip: gateway, enable_dhcp: false };
        subnets.push((await neutron.request("POST", "/subnets", { subnet: body })).subnet.id);
        const kuryr = { "openstack.org/kuryr-config": JSON.stringify({ subnetId: subnets.at(-1) }) };
        await api.network("shop", name, [plugin], kuryr);
      }
      await connectMachine();
      const settings = {
        url: proxy.url,
        auth: { type: "none" },
        podSubnet: subnets[0],
        driver: "nested-vlan",
        portSecurity: false,
      };
      const providers = [{ name: "neutron", type: "neutron", namespaces: ["shop"], owner: "test", neutron: settings }];
      writeFileSync(join(directory, "providers.yaml"), JSON.stringify({ providers }));
      const args = ["--external-ports", join(directory, "providers.yaml")];
      controller = await startController({ identity: "vlan", kubeconfig: api.adminKubeconfig, args });
    });
    afterAll(async () => {
      await controller?.kill();
      objects?.close();
      proxy?.dispose();
      await Promise.all([api?.dispose(), neutron?.dispose()]);
      stage?.dispose();
      hypervisor?.dispose();
      rmSync(directory, { recursive: true, force: true });
    });

    /** The fabric's machine: a network card with the parent port's MAC and MTU, whose other end is a port of the hypervisor's switch. */
    async function connectMachine(): Promise<void> {
      const { network } = await neutron.request("POST", "/networks", { network: { name: "machines" } });
      const port = { network_id: network.id, name: nodeName, "binding:host_id": nodeName };
      const parent = (await neutron.request("POST", "/ports", { port })).port;
      trunk = (await neutron.request("POST", "/trunks", { trunk: { port_id: parent.id } })).trunk.id;
      const card = ["address", parent.mac_address, "mtu", String(network.mtu)];
      for (const command of [
        ["ip", "link", "add", hypervisorEnd, "type", "veth", "peer", "name", uplink, "netns", stage.node.name],
        ["ip", "link", "set", hypervisorEnd, "up"],
        ["ip", "-n", stage.node.name, "link", "set", uplink, ...card, "up"],
      ] as const) {
        const { status, stderr } = hypervisor.exec([...command]);
        expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      }
      const asPort = ["--", "set", "interface", hypervisorEnd, `external_ids:iface-id=${parent.id}`];
      neutron.vsctl("add-port", "br-int", hypervisorEnd, ...asPort);
      const isActive = async (): Promise<void> =>
        expect((await neutron.request("GET", `/ports/${parent.id}`)).port.status).toBe("ACTIVE");
      await vi.waitFor(isActive, { timeout: 60_000, interval: 100 });
    }

    test("KU-04 KU-26 two pods have VLAN links with Neutron's VLAN, MAC, address and MTU, ping each other over OVN, and DEL leaves nothing", async () => {
      const before = node.left();
      const names = ["blue-1", "blue-2"];
      const [one, two] = [await plug("blue-1", "blue", "10.9.0.11"), await plug("blue-2", "blue", "10.9.0.12")];
      expect(await subports()).toEqual(
        expect.arrayContaining(
          [one, two].map(({ port }) => [port.providerId, port.binding.type === "vlan" && port.binding.vlan]),
        ),
      );
      for (const [index, { attaching, address, port }] of [one, two].entries()) {
        const { pod } = attaching;
        const { port: made } = await neutron.request("GET", `/ports/${port.providerId}`);
        const { mtu } = (await neutron.request("GET", `/networks/${made.network_id}`)).network;
        expect(port.binding).toEqual({ type: "vlan", vlan: vlanOf(pod) });
        expect(pod.links().find(({ name }) => name === "net1")).toMatchObject({ mac: made.mac_address, mtu, up: true });
        expect(pod.addresses()).toContainEqual({ link: "net1", address: `${made.fixed_ips[0]?.ip_address}/24`, scope: "global" });
        expect(port.addresses).toEqual([{ address: `${address}/24`, gateway }]);
        const [, status] = (await api.statusOf("shop", names[index] ?? "")) as readonly object[];
        expect(status).toMatchObject({ name: "shop/blue", interface: "net1", mac: made.mac_address, ips: [address] });
        await node.succeed("CHECK", attaching);
      }
      expect(vlanOf(one.attaching.pod)).not.toBe(vlanOf(two.attaching.pod));
      await vi.waitFor(() => expect(one.attaching.pod.ping(two.address)).toBe(true), { timeout: 60_000 });
      expect(two.attaching.pod.ping(one.address)).toBe(true);
      await unplug([one, two], names);
      expect(node.left()).toEqual(before);
    });

    test("a pod's frames do not reach a pod of another network on the same trunk, whose address and MAC it uses", async () => {
      const blue = await plug("sender", "blue", "10.9.0.21");
      const red = await plug("receiver", "red", "10.9.0.22");
      const neighbour = await plug("neighbour", "red", "10.9.0.23");
      const { pod } = red.attaching;
      await vi.waitFor(() => expect(neighbour.attaching.pod.ping(red.address)).toBe(true), { timeout: 60_000 });
      const { packets } = await sniff(pod.path, "net1", anyEthertype, 1, hexOf(red.address));
      const known = blue.attaching.pod.exec(["ip", "neighbour", "replace", red.address, "lladdr", red.port.mac, "dev", "net1"]);
      expect(known).toMatchObject({ status: 0, stderr: "" });
      expect(blue.attaching.pod.ping(red.address)).toBe(false);
      expect(neighbour.attaching.pod.ping(red.address)).toBe(true);
      // The sender's frame would have been the first.
      expect(await packets).toMatchObject([{ source: neighbour.port.mac.replaceAll(":", "") }]);
      await unplug([blue, red, neighbour], ["sender", "receiver", "neighbour"]);
    });
  },
);
