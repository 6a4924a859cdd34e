// The delegate sriov with a real virtual function, through the installed binary. `npm run vm -- test/node/attach/virtual-function.test.ts` runs the test
// with an emulated adapter (igb).

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { iproute2, missing, privateNamespaces } from "../../lab/requires.ts";
import { type Attaching, openStage, type Stage } from "../../lab/stage.ts";
import { firstFunction, functionSettings, moveFunction, virtualFunction, vlanOf } from "../../lab/virtual-functions.ts";

const unable = missing("a virtual function of the delegate sriov", privateNamespaces, iproute2, virtualFunction);

describe.skipIf(unable)("the delegate sriov", () => {
  const vf = firstFunction() ?? { pci: "", physicalPci: "" };
  let stage: Stage;
  let physical: string;
  beforeEach(async () => {
    stage = openStage({ components: ["sriov", "ipam-host-local"] });
    ({ physical } = await moveFunction(vf, stage.node));
  });
  // The kernel returns the links to the machine's first namespace with the end of the node's.
  afterEach(() => stage.dispose());

  function attaching(step: object, links: object): Attaching {
    const ipam = { type: "ipam-host-local", ranges: [[{ subnet: "10.79.0.0/24" }]] };
    const grants = {
      "ipam-host-local": { log: {}, leases: { directories: [stage.leases] }, resolver: {} },
      sriov: {
        log: {},
        delegation: { plugins: ["ipam-host-local"] },
        links: { deviceRecords: stage.plexus.state("devices"), ...links },
      },
    };
    // Generous, because an emulated machine is slow and the test measures no time.
    const limits = { timeMs: 60_000, admissionMs: 60_000 };
    const more = { cniVersion: "1.1.0", wasm: { grants, limits }, runtimeConfig: { deviceID: vf.pci } };
    const plugin = { type: "sriov", capabilities: { deviceID: true }, ipam, ...step };
    return { config: stage.network([plugin], more), containerId: "pod-1", pod: stage.pod(), ifname: "net1" };
  }

  test("DE-SRIOV-01: sets the function, gives it an address in the pod, passes CHECK, and leaves both as they were", async () => {
    const before = functionSettings(stage.node, physical);
    const links = stage.node.links();
    const mac = "02:00:00:00:79:01";
    const one = attaching({ vlan: 7, vlanQoS: 2, mac, spoofchk: "on" }, { devices: ["driver:igbvf"], vfVlans: ["7"] });
    const { json } = await stage.succeed("ADD", one);
    expect(json).toMatchObject({
      interfaces: [{ name: "net1", mac, mtu: 1500 }],
      ips: [{ address: "10.79.0.2/24", interface: 0 }],
    });
    const pod = one.pod;
    if (typeof pod === "string") throw new Error("no pod");
    expect(pod.links()).toMatchObject([{ name: "net1", mac, up: true }]);
    expect(pod.addresses()).toMatchObject([{ link: "net1", address: "10.79.0.2/24" }]);
    expect(functionSettings(stage.node, physical)).toMatchObject({ address: mac, spoofchk: true });
    expect(vlanOf(functionSettings(stage.node, physical))).toBe("7");
    await stage.succeed("CHECK", one);
    await stage.succeed("DEL", one);
    await stage.succeed("DEL", one);
    expect(functionSettings(stage.node, physical)).toEqual(before);
    expect(pod.links()).toEqual([]);
    expect(stage.node.links()).toEqual(links);
    expect(stage.files()).toMatchObject({ leases: [], state: [] });
  });

  test("a function, a VLAN and a trust that the grant lacks are refused by name, and change nothing", async () => {
    const before = functionSettings(stage.node, physical);
    const tries: readonly (readonly [object, object, string])[] = [
      [{ vlan: 7 }, {}, "links.devices"],
      [{ vlan: 7 }, { devices: ["driver:igbvf"], vfVlans: ["8-9"] }, "links.vfVlans has 8-9"],
      [{ trust: "on" }, { devices: ["driver:igbvf"] }, "links.vfTrust"],
    ];
    for (const [step, links, key] of tries) {
      const { status, json } = await stage.call("ADD", attaching(step, links));
      expect([key, status, json?.msg]).toEqual([key, 1, expect.stringContaining(key)]);
    }
    expect(functionSettings(stage.node, physical)).toEqual(before);
    expect(stage.files()).toMatchObject({ leases: [] });
  });
});
