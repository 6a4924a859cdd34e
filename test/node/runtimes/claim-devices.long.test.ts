// A claim's exclusive PCI device in a real containerd: the driver's CDI specification gives the container its environment. The device's address stands for a NIC:
// containerd reads the specification only, and moves no device.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DeviceFiles } from "../../../features/claims/driver/device-files.ts";
import { cdiDeviceId } from "../../../features/claims/rules/device-files.ts";
import type { PreparedClaim } from "../../../features/claims/rules/prepared-claim.ts";
import { type CriNode, openCriNode } from "../../lab/containerd/cri-node.ts";
import { callingStatus, installation, missingRuntime } from "../../lab/containerd/runtimes.ts";
import { bridgeStep } from "../../lab/mixed-network.ts";

const uid = "0d1e4c1a-5f0e-4a77-9b0e-6a1c2f0b7d11";
const pciAddresses = ["0000:18:02.1", "0000:18:02.2"];
const claim: PreparedClaim = {
  namespace: "shop",
  name: "nic",
  uid,
  pods: ["pod-1"],
  isShareable: false,
  networks: [],
  // A request may ask for several devices (`count`).
  devices: pciAddresses.map((pciAddress, index) => ({
    request: "net",
    pool: "node",
    device: `vf-eth${index}`,
    shareId: "",
    link: { name: `eth${index}`, kind: "link", isExclusive: true, pciAddress, resourceName: "example.com/vf" },
  })),
};

describe.skipIf(missingRuntime("devices of claims", callingStatus))("an exclusive device of a claim in containerd", () => {
  let node: CriNode;
  let files: DeviceFiles;
  beforeAll(async () => {
    node = await openCriNode(callingStatus.path(), installation);
    await node.configure(
      node.stage.host({
        cniVersion: "1.1.0",
        delegates: [{ cniVersion: "1.0.0", name: "pods", plugins: [bridgeStep()] }],
      }),
      "1.1.0",
    );
    const { hostPath } = node.containerd;
    files = new DeviceFiles(hostPath("/run/cdi"), hostPath("/run/plexus-test"));
  });
  afterAll(async () => node?.dispose());

  test("DR-15: the container has the addresses of its claim's devices, and after Unprepare no container can name them", async () => {
    expect(files.write(claim)).toEqual({ ok: true, value: undefined });
    const sandbox = await node.run("claiming");
    const environment = await node.environmentOf(sandbox, "claiming", [cdiDeviceId(uid, "net")]);
    const all = pciAddresses.join(",");
    expect(environment).toEqual(expect.arrayContaining([`PLEXUS_PCI_NET=${all}`, `PCIDEVICE_EXAMPLE_COM_VF=${all}`]));
    await node.remove(sandbox);
    expect(files.remove(uid, claim, [])).toEqual({ ok: true, value: undefined });
    const next = await node.run("later");
    await expect(node.environmentOf(next, "later", [cdiDeviceId(uid, "net")])).rejects.toThrow("unresolvable CDI devices");
    await node.remove(next);
  });
});
