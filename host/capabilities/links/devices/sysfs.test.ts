import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isGrantedDevice } from "./device-grants.ts";
import { Sysfs } from "./sysfs.ts";

let root = "";
const port = "devices/pci0000:00/0000:00:01.0/0000:3b:00.0";

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "plexus-sysfs-"));
  const files: readonly (readonly [string, string])[] = [
    [`${port}/numa_node`, "1\n"],
    [`${port}/net/ens5/speed`, "25000\n"],
    [`${port}/infiniband/mlx5_0/name`, ""],
    ["devices/pci0000:00/0000:3b:02.1/numa_node", "-1\n"],
    ["devices/pci0000:00/0000:00:05.0/virtio2/modalias", ""],
    ["devices/pci0000:00/0000:00:06.0/modalias", ""],
    ["drivers/mlx5_core/uevent", ""],
    ["drivers/virtio_net/uevent", ""],
    ["drivers/vfio-pci/uevent", ""],
  ];
  for (const [path, text] of files) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const links: readonly (readonly [string, string])[] = [
    [`${port}/driver`, "drivers/mlx5_core"],
    ["devices/pci0000:00/0000:3b:02.1/driver", "drivers/mlx5_core"],
    ["devices/pci0000:00/0000:3b:02.1/physfn", port],
    [`${port}/virtfn0`, "devices/pci0000:00/0000:3b:02.0"],
    [`${port}/virtfn1`, "devices/pci0000:00/0000:3b:02.1"],
    ["devices/pci0000:00/0000:00:05.0/virtio2/driver", "drivers/virtio_net"],
    ["devices/pci0000:00/0000:00:06.0/driver", "drivers/vfio-pci"],
    ["bus/pci/devices/0000:3b:00.0", port],
    ["bus/pci/devices/0000:3b:02.1", "devices/pci0000:00/0000:3b:02.1"],
    ["bus/pci/devices/0000:00:05.0", "devices/pci0000:00/0000:00:05.0"],
    ["bus/pci/devices/0000:00:06.0", "devices/pci0000:00/0000:00:06.0"],
    ["bus/virtio/devices/virtio2", "devices/pci0000:00/0000:00:05.0/virtio2"],
  ];
  for (const [path, target] of links) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    symlinkSync(join(root, target), join(root, path));
  }
});
afterAll(() => rmSync(root, { recursive: true }));

const pci = (name: string) => ({ bus: "pci", name });
const virtio = { bus: "virtio", name: "virtio2" };
const nameOf = ({ name }: { readonly name: string }) => (name === "0000:3b:00.0" ? "ens5" : undefined);
const noName = (): undefined => undefined;

test("the facts of a port, of its virtual function, and of a virtio device", () => {
  const sysfs = new Sysfs(root);
  expect(sysfs.factsOf(pci("0000:3b:00.0"), "ens5", noName)).toEqual({
    driver: "mlx5_core",
    pciAddress: "0000:3b:00.0",
    speed: 25_000,
    numaNode: 1,
    physicalFunction: undefined,
    rdmaDevices: ["mlx5_0"],
  });
  expect(sysfs.factsOf(pci("0000:3b:02.1"), "ens5v1", nameOf)).toMatchObject({ physicalFunction: "ens5", numaNode: undefined });
  expect(sysfs.factsOf(virtio, "eth0", noName)).toMatchObject({ driver: "virtio_net", pciAddress: "0000:00:05.0" });
});

test("a virtual function has a physical function and a number there; a port has none, and a device of user space no link", () => {
  const sysfs = new Sysfs(root);
  expect(sysfs.virtualFunctionOf(pci("0000:3b:02.1"))).toEqual({ physical: pci("0000:3b:00.0"), number: 1 });
  expect([pci("0000:3b:00.0"), pci("0000:99:00.0"), pci("..")].map((device) => sysfs.virtualFunctionOf(device))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect([sysfs.hasLink(pci("0000:3b:00.0")), sysfs.hasLink(pci("0000:00:06.0"))]).toEqual([true, false]);
});

test("a device is found by its PCI address, also above virtio, and by its path; not by a bridge above it, nor outside of the buses", () => {
  const sysfs = new Sysfs(root);
  expect(sysfs.hasId(virtio, "0000:00:05.0")).toBe(true);
  expect(sysfs.hasId(pci("0000:3b:00.0"), "0000:3b:00.0")).toBe(true);
  expect(sysfs.hasId(pci("0000:3b:00.0"), "0000:00:01.0")).toBe(false);
  expect(sysfs.isAt(pci("0000:3b:00.0"), `/sys/${port}`)).toBe(true);
  expect(sysfs.isAt(pci("0000:3b:00.0"), "/sys/devices/pci0000:00")).toBe(false);
  expect(sysfs.isAt(pci("0000:3b:00.0"), "/sys/bus/pci/devices/0000:3b:00.0")).toBe(false);
  expect(sysfs.find("0000:00:06.0")).toEqual(pci("0000:00:06.0"));
  expect([sysfs.find("0000:99:00.0"), sysfs.find("..")]).toEqual([undefined, undefined]);
});

test("a grant names a device by its link, its MACs, its PCI address or its driver", () => {
  const facts = { driver: "mlx5_core", pciAddress: "0000:3b:02.1", rdmaDevices: [] };
  const link = { name: "ens5v1", mac: "02:00:00:00:00:01", permanentMac: "06:00:00:00:00:01", linkNamespace: undefined };
  const granted = (...patterns: readonly string[]): boolean => isGrantedDevice(patterns, { link, facts });
  expect([
    granted("ens*"),
    granted("mac:02:*"),
    granted("mac:06:00:00:00:00:01"),
    granted("pci:0000:3B:*"),
    granted("driver:mlx5*"),
  ]).toEqual(Array.from({ length: 5 }, () => true));
  expect([granted(), granted("eth0", "mac:03:*", "pci:0000:3c:*", "driver:vfio*")]).toEqual([false, false]);
  const noLink = { link: undefined, facts: { ...facts, driver: "vfio-pci" } };
  expect([isGrantedDevice(["*"], noLink), isGrantedDevice(["driver:vfio-pci"], noLink)]).toEqual([false, true]);
  const podsVeth = { link: { ...link, linkNamespace: 3 }, facts: { rdmaDevices: [] } };
  expect([isGrantedDevice(["ens*"], podsVeth), isGrantedDevice(["ens5v1"], podsVeth)]).toEqual([false, true]);
  expect(isGrantedDevice(["*"], { link: { ...link, name: "lo" }, facts })).toBe(false);
});
