// Device information files of device plugins and CNI plugins, and the pod's network status, through the installed binary.

import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { kubeletDirectory } from "../../../host/cluster/kubelet/kubelet-paths.ts";
import { attachmentFile, deviceInfoDirectory, devicePluginFile } from "../../../src/npwg/device-info.ts";
import { startKubelet } from "../../lab/kubelet.ts";
import { installRecorders, type RecordedCall, type RecorderPlugin } from "../../lab/recorder.ts";
import { manifestsIn, type Manifests } from "../../lab/manifests.ts";
import { missingForMixed, mixedInstallation } from "../../lab/mixed-network.ts";
import { nothing, openStage, type Attaching, type Stage } from "../../lab/stage.ts";

const pci = { type: "pci", version: "1.1.0", pci: { "pci-address": "0000:18:02.5" } };
const memif = { type: "memif", version: "1.1.0", memif: { role: "master", path: "/run/m.sock", mode: "ethernet" } };

function devices(
  ...deviceIds: readonly string[]
): readonly { readonly resourceName: string; readonly deviceIds: readonly string[] }[] {
  return [{ resourceName: "example.com/nic", deviceIds }];
}

function pathIn(call: RecordedCall | undefined): unknown {
  const stdin = JSON.parse(call?.stdin ?? "null") as { readonly runtimeConfig?: Readonly<Record<string, unknown>> };
  return stdin.runtimeConfig?.["CNIDeviceInfoFile"];
}

const attachmentFiles = (): readonly string[] => readdirSync(join(deviceInfoDirectory, "cni"));

describe.skipIf(missingForMixed("device information"))("device information", () => {
  let stage: Stage;
  let manifests: Manifests;
  let recorders: Record<"main" | "memif" | "sriov", RecorderPlugin>;
  beforeEach(() => {
    rmSync(deviceInfoDirectory, { recursive: true, force: true });
    stage = openStage(mixedInstallation);
    manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
    const { cniPath } = stage.plexus;
    recorders = installRecorders(cniPath, "main", "memif", "sriov");
    manifests.network("mem", [{ type: "memif", capabilities: { CNIDeviceInfoFile: true } }]);
    manifests.network("nic", [{ type: "sriov" }], { "k8s.v1.cni.cncf.io/resourceName": "example.com/nic" });
  });
  afterEach(() => {
    stage.dispose();
    rmSync(deviceInfoDirectory, { recursive: true, force: true });
  });

  const attaching = (name: string, more: object = {}): Attaching => ({
    config: stage.network([{ type: "main" }], { manifests: manifests.directory, ...more }),
    // The directory is the whole machine's, and other tests detach containers named ctr-web.
    containerId: `devices-${name}`,
    pod: stage.pod(),
    args: manifests.argsOf(name),
  });

  test("DI-06, DI-07, DI-08, DI-09: a plugin with the capability gets a file per attachment, also without a device, and the status has its content", async () => {
    manifests.pod("web", "mem,mem");
    recorders.memif.script("ADD", { deviceInfo: JSON.stringify(memif) });
    const web = attaching("web");
    await stage.succeed("ADD", web);
    const files = ["net1", "net2"].map((ifname) => attachmentFile("devices-web", ifname));
    expect(recorders.memif.calls().map(pathIn)).toEqual(files);
    expect(statSync(join(deviceInfoDirectory, "cni")).mode & 0o777).toBe(0o755);
    expect(manifests.statusOf("web")).toMatchObject([
      { name: "pods" },
      { name: "shop/mem", interface: "net1", "device-info": memif },
      { name: "shop/mem", interface: "net2", "device-info": memif },
    ]);
    expect(pathIn(recorders.main.calls()[0])).toBeUndefined();
    await stage.succeed("DEL", web);
    expect(recorders.memif.calls().slice(2).map(pathIn)).toEqual(files.toReversed());
    expect([attachmentFiles(), stage.left()]).toEqual([[], nothing]);
  });

  test("DI-05, DI-06, MC-25: the file is a copy of the device plugin's, and the plugins' configuration has the device", async () => {
    const allocated = devicePluginFile("example.com/nic", "0000:18:02.5");
    mkdirSync(join(deviceInfoDirectory, "dp"), { recursive: true });
    writeFileSync(allocated, JSON.stringify(pci));
    manifests.pod("web", [{ name: "nic", deviceID: "0000:18:02.5" }]);
    const web = attaching("web");
    await stage.succeed("ADD", web);
    expect(manifests.statusOf("web")).toMatchObject([{}, { name: "shop/nic", "device-info": pci }]);
    expect(attachmentFiles()).toEqual(["devices-web@net1-device.json"]);
    expect(JSON.parse(recorders.sriov.calls()[0]?.stdin ?? "")).toMatchObject({
      deviceID: "0000:18:02.5",
      pciBusID: "0000:18:02.5",
    });
    await stage.succeed("DEL", web);
    expect([attachmentFiles(), stage.left(), statSync(allocated).isFile()]).toEqual([[], nothing, true]);
  });

  test("MA-03, DI-10: two networks of one resource get the kubelet's allocated devices, in its order", async () => {
    const containers = [
      { name: "b", devices: devices("0000:18:0a.7") },
      { name: "a", devices: devices("0000:18:02.1") },
    ];
    const kubelet = await startKubelet(join(kubeletDirectory, "pod-resources", "kubelet.sock"), () => [
      { name: "web", namespace: "shop", containers },
    ]);
    try {
      manifests.network("nic", [{ type: "sriov", capabilities: { deviceID: true } }], {
        "k8s.v1.cni.cncf.io/resourceName": "example.com/nic",
      });
      manifests.pod("web", "nic,nic");
      const web = attaching("web");
      await stage.succeed("ADD", web);
      expect(recorders.sriov.calls().map(({ stdin }) => JSON.parse(stdin))).toMatchObject([
        { deviceID: "0000:18:0a.7", pciBusID: "0000:18:0a.7", runtimeConfig: { deviceID: "0000:18:0a.7" } },
        { deviceID: "0000:18:02.1", pciBusID: "0000:18:02.1", runtimeConfig: { deviceID: "0000:18:02.1" } },
      ]);
      await stage.succeed("DEL", web);
      manifests.pod("more", "mem,nic");
      // The kubelet does not list this pod: its network gets no device, and ADD prints a warning.
      const more = await stage.call("ADD", attaching("more"));
      expect([more.status, more.stderr]).toEqual([
        0,
        expect.stringMatching(/warning: network shop\/nic: .*allocated no further device of example\.com\/nic/),
      ]);
    } finally {
      kubelet.stop();
    }
  });

  test("MA-04: a pod gets a named device only if the kubelet allocated that device to the pod", async () => {
    const kubelet = await startKubelet(join(kubeletDirectory, "pod-resources", "kubelet.sock"), () => [
      { name: "web", namespace: "shop", containers: [{ name: "a", devices: devices("0000:18:02.1", "0000:18:02.2") }] },
      { name: "db", namespace: "shop", containers: [{ name: "a", devices: devices("0000:18:0a.7") }] },
    ]);
    try {
      for (const ids of [["0000:18:0a.7"], ["0000:18:02.2", "0000:18:02.2"]]) {
        manifests.pod(
          "web",
          ids.map((deviceID) => ({ name: "nic", deviceID })),
        );
        const refused = await stage.call("ADD", attaching("web"));
        expect([refused.status, refused.json]).toMatchObject([
          1,
          { code: 7, msg: expect.stringMatching(/not allocated it to the pod/) },
        ]);
      }
      expect([recorders.main.calls(), stage.left()]).toEqual([[], nothing]);
      manifests.pod("web", [{ name: "nic", deviceID: "0000:18:02.2" }, { name: "nic" }]);
      const web = attaching("web");
      await stage.succeed("ADD", web);
      expect(recorders.sriov.calls().map(({ stdin }) => JSON.parse(stdin))).toMatchObject([
        { deviceID: "0000:18:02.2" },
        { deviceID: "0000:18:02.1" },
      ]);
      await stage.succeed("DEL", web);
      recorders.sriov.clear();
      // The second network names the device that the first one would get by the kubelet's order.
      manifests.pod("web", [{ name: "nic" }, { name: "nic", deviceID: "0000:18:02.1" }]);
      await stage.succeed("ADD", web);
      expect(recorders.sriov.calls().map(({ stdin }) => JSON.parse(stdin))).toMatchObject([
        { deviceID: "0000:18:02.2" },
        { deviceID: "0000:18:02.1" },
      ]);
      await stage.succeed("DEL", web);
    } finally {
      kubelet.stop();
    }
  });

  test("MC-15: line breaks and escape sequences in a resource name cannot forge a line of the log", async () => {
    const resource = "example.com/nic\u001b[2J\nplexus: warning: ABANDONED: nothing";
    manifests.network("nic", [{ type: "sriov" }], { "k8s.v1.cni.cncf.io/resourceName": resource });
    manifests.pod("web", "nic");
    const log = join(stage.plexus.directory, "log");
    const web = attaching("web", { logFile: log, logToStderr: true });
    const { status, stderr } = await stage.call("ADD", web);
    expect(status).toBe(0);
    for (const output of [stderr, readFileSync(log, "utf8")]) {
      const lines = output.split("\n").filter((line) => line.includes("ABANDONED"));
      expect(lines).toEqual([expect.stringMatching(/network shop\/nic: .*example\.com\/nic plexus: warning: ABANDONED/)]);
      expect(output).not.toContain("\u001b");
    }
    await stage.succeed("DEL", web);
  });

  test("DI-08: the result's pciID replaces an absent or invalid file, and an invalid file causes a warning", async () => {
    const result = {
      cniVersion: "1.1.0",
      interfaces: [{ name: "net1", sandbox: "/any", pciID: "0000:18:02.5" }],
      ips: [{ address: "10.99.0.2/24", interface: 0 }],
    };
    for (const [name, deviceInfo] of [
      ["none", undefined],
      ["bad", '{"type":"pci","version":"1.1.0","pci":{}}'],
    ] as const) {
      recorders.memif.script("ADD", { stdout: JSON.stringify(result), ...(deviceInfo === undefined ? {} : { deviceInfo }) });
      manifests.pod(name, "mem");
      const each = attaching(name, { cniVersion: "1.1.0" });
      const added = await stage.call("ADD", each);
      expect([added.status, added.stderr.includes("pci.pci-address is missing")]).toEqual([0, deviceInfo !== undefined]);
      expect(manifests.statusOf(name)).toMatchObject([{}, { "device-info": pci }]);
      await stage.succeed("DEL", each);
    }
    expect([attachmentFiles(), stage.left()]).toEqual([[], nothing]);
  });

  test("DI-09: a failed ADD, a partly failed DEL and GC leave no file", async () => {
    manifests.network("last", [{ type: "sriov" }]);
    manifests.pod("web", "mem,last");
    recorders.memif.script("ADD", { deviceInfo: JSON.stringify(memif) });
    const web = attaching("web", { cniVersion: "1.1.0" });
    recorders.sriov.script("ADD", { stdout: '{"cniVersion":"1.0.0","code":111,"msg":"no"}', exit: 1 }, 1);
    expect((await stage.call("ADD", web)).status).toBe(1);
    expect([attachmentFiles(), stage.left()]).toEqual([[], nothing]);

    await stage.succeed("ADD", web);
    expect(attachmentFiles()).toHaveLength(1);
    recorders.memif.script("DEL", { stdout: '{"cniVersion":"1.0.0","code":11,"msg":"not now"}', exit: 1 }, 2);
    expect((await stage.call("DEL", web)).status).toBe(1);
    expect(attachmentFiles()).toEqual([]);
    await stage.succeed("DEL", web);

    await stage.succeed("ADD", web);
    expect(attachmentFiles()).toHaveLength(1);
    await stage.succeed("GC", { ...web, config: { ...web.config, "cni.dev/valid-attachments": [] } });
    expect([attachmentFiles(), stage.left()]).toEqual([[], nothing]);
  });
});
