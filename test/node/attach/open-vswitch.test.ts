// Ports of a real Open vSwitch through the installed binary. ovs-vswitchd has dummy devices; test/cluster/external-ports.test.ts has packets.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { missingOpenVswitch, type OpenVswitch, startOpenVswitch } from "../../lab/neutron/open-vswitch.ts";
import { iproute2, linkType, missing, privateNamespaces } from "../../lab/requires.ts";
import { type Attaching, openStage, type Stage } from "../../lab/stage.ts";

const unable = missing("ports of Open vSwitch", privateNamespaces, iproute2, linkType("veth"), missingOpenVswitch);
const interfaceId = "6f0c3f2e-7f0b-4c58-9a53-7d1c6f0f7a10";

describe.skipIf(unable)("ports of Open vSwitch", () => {
  let stage: Stage;
  let ovs: OpenVswitch;
  beforeEach(async () => {
    stage = openStage({ components: ["external-port", "ipam-host-local", "ovs"] });
    ovs = await startOpenVswitch();
    ovs.vsctl("add-br", "br-int", "--", "set", "bridge", "br-int", "datapath_type=dummy");
    await ovs.startVswitchd();
  });
  afterEach(async () => {
    stage?.dispose();
    await ovs?.dispose();
  });

  function attaching(containerId: string, { granted = ["br-int"] }: { readonly granted?: readonly string[] } = {}) {
    const externalPort = {
      providerId: "port-1",
      mac: "fa:16:3e:00:00:01",
      addresses: [{ address: "10.9.0.1/24" }],
      routes: [],
      binding: { type: "ovs", interfaceId },
    };
    const grant = { log: {}, links: {}, ovs: { bridges: granted, socket: ovs.socket } };
    const config = stage.network([{ type: "external-port", bridge: "br-int", capabilities: { externalPort: true } }], {
      cniVersion: "1.1.0",
      runtimeConfig: { externalPort },
      wasm: { grants: { "external-port": grant } },
    });
    return { config, containerId, pod: stage.pod() } satisfies Attaching;
  }

  const ports = (): readonly string[] => ovs.vsctl("list-ports", "br-int").split("\n").filter(Boolean);

  test("a pod's veth becomes a port with the fabric's interface ID, passes CHECK, and leaves no port", async () => {
    const one = attaching("pod-1");
    const { json } = await stage.succeed("ADD", one);
    const [port = ""] = ports();
    expect(json?.interfaces).toEqual(expect.arrayContaining([expect.objectContaining({ name: port })]));
    const ids = ovs.vsctl("get", "interface", port, "external_ids");
    expect(ids).toContain(`iface-id="${interfaceId}"`);
    expect(ids).toContain('plexus-attachment="pod-1/eth0"');
    await stage.succeed("CHECK", one);
    ovs.vsctl("set", "interface", port, "external_ids:iface-id=other");
    expect((await stage.call("CHECK", one)).json?.code).toBe(101);
    await stage.succeed("DEL", one);
    await stage.succeed("DEL", one);
    expect(ports()).toEqual([]);
  });

  /** A network of the delegate ovs, with the keys of ovs-cni. */
  function ovsNetwork(keys: object, granted: readonly string[] = ["100", "1000-1010"]) {
    const ipam = { type: "ipam-host-local", subnet: "10.7.0.0/24", dataDir: stage.leases };
    const grants = {
      ovs: {
        links: {},
        ovs: { bridges: ["br-int"], vlans: granted, socket: ovs.socket },
        delegation: { plugins: [ipam.type] },
        log: {},
      },
      [ipam.type]: { leases: { directories: [stage.leases] }, resolver: {}, log: {} },
    };
    return stage.network([{ type: "ovs", bridge: "br-int", ipam, ...keys }], { cniVersion: "1.1.0", wasm: { grants } });
  }

  test("DE-OVS-01 a pod's veth becomes a port with VLANs, MTU and number, passes CHECK, and leaves neither port, link nor address", async () => {
    const one = { config: ovsNetwork({ vlan: 100, mtu: 1400, ofport_request: 77 }), containerId: "pod-1", pod: stage.pod() };
    const two = { config: ovsNetwork({ trunk: [{ minID: 1000, maxID: 1002 }] }), containerId: "pod-2", pod: stage.pod() };
    const { json } = await stage.succeed("ADD", one);
    const [node = ""] = ports();
    const [link] = one.pod.links();
    expect(link).toMatchObject({ name: "eth0", mtu: 1400, up: true });
    const interfaces = [{ name: node }, { name: "eth0", mac: link?.mac, sandbox: one.pod.path }];
    expect(json).toMatchObject({ interfaces, ips: [{ address: "10.7.0.2/24", interface: 1 }] });
    expect(ovs.vsctl("get", "port", node, "tag", "vlan_mode")).toBe("100\naccess");
    expect(ovs.vsctl("get", "interface", node, "ofport")).toBe("77");
    expect(ovs.vsctl("get", "interface", node, "external_ids")).toContain(`attached-mac="${link?.mac}"`);
    await stage.succeed("ADD", two);
    const [trunk = ""] = ports().filter((each) => each !== node);
    expect(ovs.vsctl("get", "port", trunk, "trunks")).toBe("[1000, 1001, 1002]");
    await stage.succeed("CHECK", one);
    await stage.succeed("CHECK", two);
    ovs.vsctl("set", "port", node, "tag=101");
    expect((await stage.call("CHECK", one)).json).toMatchObject({ code: 102, msg: expect.stringContaining("has VLAN 101") });
    await stage.succeed("DEL", one);
    await stage.succeed("DEL", one);
    expect([ports(), one.pod.links()]).toEqual([[trunk], []]);
    expect(await stage.request({ verb: "STATUS", config: two.config })).toMatchObject({ status: 0 });
    const gone = { ...two.config, "cni.dev/valid-attachments": [] };
    expect(await stage.request({ verb: "GC", config: gone })).toMatchObject({ status: 0 });
    expect(ports()).toEqual([]);
  });

  test("a VLAN that is not granted fails the ADD of ovs, and neither port, link nor address is left", async () => {
    const one = { config: ovsNetwork({ trunk: [{ id: 1000 }, { id: 1011 }] }), containerId: "pod-1", pod: stage.pod() };
    expect((await stage.call("ADD", one)).json).toMatchObject({
      code: 7,
      msg: expect.stringContaining("VLAN 1011 is not granted: wasm.grants.ovs.ovs.vlans has 100, 1000-1010"),
    });
    expect([ports(), one.pod.links()]).toEqual([[], []]);
  });

  test("a bridge that is not granted fails the ADD, and neither port nor link is left", async () => {
    const one = attaching("pod-1", { granted: ["br-ex"] });
    expect((await stage.call("ADD", one)).json).toMatchObject({
      code: 7,
      msg: expect.stringContaining("wasm.grants.external-port.ovs.bridges has br-ex"),
    });
    expect([ports(), one.pod.links()]).toEqual([[], []]);
  });

  test("STATUS has code 50 and an ADD code 11 while the database is away, and GC removes the port of a pod that is gone", async () => {
    const one = attaching("pod-1");
    await stage.succeed("ADD", one);
    const { config } = one;
    expect(await stage.request({ verb: "STATUS", config })).toMatchObject({ status: 0 });
    expect(await stage.request({ verb: "GC", config: { ...config, "cni.dev/valid-attachments": [] } })).toMatchObject({
      status: 0,
    });
    expect(ports()).toEqual([]);
    await ovs.dispose();
    expect((await stage.request({ verb: "STATUS", config })).json?.code).toBe(50);
    expect((await stage.call("ADD", attaching("pod-2"))).json).toMatchObject({
      code: 11,
      msg: expect.stringContaining(ovs.socket),
    });
  });
});
