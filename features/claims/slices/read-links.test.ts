import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readLinks } from "./read-links.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "plexus-sysfs-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Makes a device of a bus with files. */
function makeDevice(path: string, bus: string, files: Readonly<Record<string, string>>): void {
  const [directory, subsystem] = [join(root, "devices", path), join(root, "bus", bus)];
  for (const each of [directory, subsystem]) mkdirSync(each, { recursive: true });
  symlinkSync(subsystem, join(directory, "subsystem"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), `${text}\n`);
}

/** Makes a link of a device. */
function makeLink(name: string, device: string): void {
  const directory = join(root, "devices", device, "net", name);
  for (const each of [directory, join(root, "class", "net")]) mkdirSync(each, { recursive: true });
  symlinkSync(join(root, "devices", device), join(directory, "device"));
  writeFileSync(join(directory, "flags"), "0x1003\n");
  symlinkSync(directory, join(root, "class", "net", name));
}

test("DR-02: a NIC has its PCI device's address, root, vendor and NUMA node; a virtio NIC those of the device that carries it", () => {
  const pci = { vendor: "0x8086", numa_node: "1" };
  makeDevice("pci0000:00/0000:00:05.0", "pci", pci);
  makeLink("eth1", "pci0000:00/0000:00:05.0");
  makeDevice("pci0000:00/0000:00:03.0", "pci", { ...pci, vendor: "0x1af4" });
  makeDevice("pci0000:00/0000:00:03.0/virtio2", "virtio", { vendor: "0x1af4" });
  makeLink("eth0", "pci0000:00/0000:00:03.0/virtio2");
  const shared = { kind: "link", isUp: true, isAdminUp: true, pcieRoot: "pci0000:00", numaNode: 1 };
  expect(readLinks(() => false, root)).toMatchObject([
    { ...shared, name: "eth0", pciAddress: "0000:00:03.0", pciVendor: "1af4" },
    { ...shared, name: "eth1", pciAddress: "0000:00:05.0", pciVendor: "8086" },
  ]);
});

test("DR-08: a link that is administratively down is told from one without carrier", () => {
  makeDevice("pci0000:00/0000:00:05.0", "pci", {});
  makeLink("eth0", "pci0000:00/0000:00:05.0");
  writeFileSync(join(root, "class/net/eth0/operstate"), "down\n");
  expect(readLinks(() => false, root)).toMatchObject([{ isUp: false, isAdminUp: true }]);
  writeFileSync(join(root, "class/net/eth0/flags"), "0x1002\n");
  expect(readLinks(() => false, root)).toMatchObject([{ isUp: false, isAdminUp: false }]);
});

test("DR-02: a device of another bus has a vendor and no PCI address", () => {
  makeDevice("platform/mmio/virtio0", "virtio", { vendor: "0x1af4", numa_node: "0" });
  makeLink("eth0", "platform/mmio/virtio0");
  expect(readLinks(() => false, root)).toMatchObject([{ pciAddress: undefined, pciVendor: undefined, pcieRoot: undefined }]);
});
