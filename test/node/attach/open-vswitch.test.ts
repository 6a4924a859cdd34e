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
    stage = openStage({ components: ["external-port"] });
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
