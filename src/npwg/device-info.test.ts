import { describe, expect, test } from "vitest";
import { readResult } from "../cni/read-result.ts";
import {
  deviceInfoOf,
  maxDeviceInfoLength,
  readDeviceInfo,
  attachmentFile,
  deviceInfoFiles,
  devicePluginFile,
} from "./device-info.ts";

const read = (info: object | string) => readDeviceInfo(typeof info === "string" ? info : JSON.stringify(info), "/run/x.json");
const refused = (why: string | RegExp) => ({
  ok: false,
  fault: { kind: "DEVICE_INFO_INVALID", msg: expect.stringMatching(why) },
});

function of(link: object): unknown {
  const text = JSON.stringify({ cniVersion: "1.1.0", interfaces: [{ name: "host0", pciID: "h" }, link] });
  const result = readResult(text, "1.1.0");
  return result.ok ? deviceInfoOf(result.value.result) : result.fault;
}

describe("device information", () => {
  test.each([
    ["DI-02", { type: "pci", version: "1.0.0", pci: { "pci-address": "0000:18:02.5" } }],
    [
      "DI-02",
      {
        type: "pci",
        version: "1.1.0",
        pci: {
          "pci-address": "0000:18:02.5",
          "vhost-net": "/dev/vhost-net",
          "rdma-device": "mlx5_1",
          "pf-pci-address": "0000:18:00.0",
          "representor-device": "eth5",
        },
      },
    ],
    [
      "DI-03",
      {
        type: "vdpa",
        version: "1.1.0",
        vdpa: {
          "parent-device": "vdpa2",
          driver: "vhost",
          path: "/dev/vhost-vdpa0",
          "pci-address": "0000:04:02.7",
          "pf-pci-address": "0000:04:00.0",
          "representor-device": "eth5",
        },
      },
    ],
    ["DI-03", { type: "vdpa", version: "1.1.0", vdpa: { driver: "virtio" } }],
    ["DI-04", { type: "vhost-user", version: "1.0.0", "vhost-user": { mode: "client", path: "/run/v.sock" } }],
    ["DI-04", { type: "vhost-user", version: "1.0.0", "vhost-user": { mode: "server", path: "/run/v.sock" } }],
    ["DI-04", { type: "memif", version: "1.0.0", memif: { role: "master", path: "/run/m.sock", mode: "ethernet" } }],
    ["DI-04", { type: "memif", version: "1.0.0", memif: { role: "slave", path: "/run/m.sock", mode: "inject-punt" } }],
    ["DI-04", { type: "memif", version: "1.0.0", memif: { role: "slave", path: "/run/m.sock", mode: "punt" } }],
  ])("%s: %j is passed on as it is", (_, info) => {
    expect(read(info)).toEqual({ ok: true, value: info });
  });

  test.each<readonly [string, object, RegExp]>([
    ["DI-01", { version: "1.0.0", pci: {} }, /type must be one of pci, vdpa, vhost-user, memif, but is/],
    ["DI-01", { type: "constructor", version: "1.0.0" }, /type must be one of.*"constructor"/],
    ["DI-01", { type: "pci", pci: { "pci-address": "x" } }, /version must be/],
    ["DI-01", { type: "pci", version: 1, pci: { "pci-address": "x" } }, /version must be/],
    ["DI-01", { type: "pci", version: "1.0.0" }, /pci must be an object/],
    ["DI-01", { type: "pci", version: "1.0.0", memif: {} }, /pci must be an object/],
    ["DI-02", { type: "pci", version: "1.0.0", pci: {} }, /pci\.pci-address is missing/],
    ["DI-02", { type: "pci", version: "1.0.0", pci: { "pci-address": 5 } }, /pci\.pci-address must be a string/],
    ["DI-03", { type: "vdpa", version: "1.0.0", vdpa: { driver: "vfio" } }, /vdpa\.driver must be one of vhost, virtio/],
    ["DI-04", { type: "vhost-user", version: "1.0.0", "vhost-user": { mode: "both" } }, /mode must be one of client, server/],
    ["DI-04", { type: "memif", version: "1.0.0", memif: { role: "peer" } }, /memif\.role must be one of master, slave/],
    ["DI-04", { type: "memif", version: "1.0.0", memif: { mode: "raw" } }, /memif\.mode must be one of/],
  ])("%s: %j is refused, and the message has the key", (_, info, why) => {
    expect(read(info)).toMatchObject(refused(why));
  });

  test("DI-01: unknown keys stay", () => {
    const info = { type: "pci", version: "2.0.0", pci: { "pci-address": "x", "numa-node": 1 }, vendor: { a: [1] } };
    expect(read(info)).toEqual({ ok: true, value: info });
  });

  test.each(["", "null", "[]", "{", '{"type":"pci","type":"pci"}', " ".repeat(maxDeviceInfoLength + 1), "[".repeat(100_000)])(
    "A-09: other text is refused, and the message has the file",
    (text) => {
      expect(read(text)).toMatchObject(refused(/\/run\/x\.json/));
    },
  );

  test("DI-08: a result of 1.1.0 describes the device by its PCI address or its socket", () => {
    const link = { name: "net1", sandbox: "/run/netns/x" };
    const pci = { type: "pci", version: "1.1.0", pci: { "pci-address": "0000:18:02.5" } };
    expect(of({ ...link, pciID: "0000:18:02.5", socketPath: "/run/v.sock" })).toEqual(pci);
    const socket = { type: "vhost-user", version: "1.1.0", "vhost-user": { path: "/run/v.sock" } };
    expect(of({ ...link, socketPath: "/run/v.sock" })).toEqual(socket);
    expect(of(link)).toBeUndefined();
    expect(read(pci).ok && read(socket).ok).toBe(true);
  });
});

describe("its files", () => {
  const need = { capabilities: [], containerId: "c1", ifname: "net1", resourceName: undefined, deviceId: undefined };

  test("DI-05: the device plugin's file has the name of resource and device, with - for each /", () => {
    expect(devicePluginFile("example.com/nic", "0000:18:02.5")).toBe(
      "/var/run/k8s.cni.cncf.io/devinfo/dp/example.com-nic-0000:18:02.5-device.json",
    );
    expect(devicePluginFile("../../etc", "a/../../b")).toBe(
      "/var/run/k8s.cni.cncf.io/devinfo/dp/..-..-etc-a-..-..-b-device.json",
    );
  });

  test("DI-06: each attachment has its own file, also on the same network", () => {
    const [first, second] = ["net1", "net2"].map((ifname) => attachmentFile("c1", ifname));
    expect(first).toBe("/var/run/k8s.cni.cncf.io/devinfo/cni/c1@net1-device.json");
    expect(second).not.toBe(first);
    expect(attachmentFile("c2", "net1")).not.toBe(first);
  });

  test("DI-06, DI-07: an attachment has a file if a plugin declares the capability, or if a device was allocated", () => {
    const path = attachmentFile("c1", "net1");
    expect(deviceInfoFiles(need)).toBeUndefined();
    expect(deviceInfoFiles({ ...need, deviceId: "d" })).toBeUndefined();
    expect(deviceInfoFiles({ ...need, capabilities: ["ips", "CNIDeviceInfoFile"] })).toEqual({ path, allocated: undefined });
    expect(deviceInfoFiles({ ...need, resourceName: "example.com/nic", deviceId: "d" })).toEqual({
      path,
      allocated: devicePluginFile("example.com/nic", "d"),
    });
  });
});
