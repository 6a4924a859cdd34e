import { expect, test } from "vitest";
import { readDeviceInfo } from "../../../src/npwg/device-info.ts";
import { cdiDeviceId, cdiFile, cdiSpecification, exclusiveDevices, pciDeviceInfo } from "./device-files.ts";
import type { PreparedDevice } from "./prepared-claim.ts";

const device = (request: string, link: Partial<PreparedDevice["link"]>): PreparedDevice => ({
  request,
  pool: "n1",
  device: request,
  shareId: "",
  link: { name: "eth1", kind: "link", isExclusive: true, ...link },
});

test("DR-15: only exclusive PCI devices have files", () => {
  const devices = [
    device("vf", { pciAddress: "0000:18:02.1", resourceName: "example.com/vf" }),
    device("plain", {}),
    device("shared", { pciAddress: "0000:18:00.0", isExclusive: false }),
  ];
  expect(exclusiveDevices({ networks: [], devices })).toEqual([
    { request: "vf", pciAddress: "0000:18:02.1", resourceName: "example.com/vf" },
  ]);
});

test("DR-15: the CDI specification has a device for each request, and all addresses of one resource", () => {
  const devices = [
    { request: "a", pciAddress: "0000:18:02.1", resourceName: "example.com/vf" },
    { request: "b/first", pciAddress: "0000:18:02.2", resourceName: "example.com/vf" },
    { request: "c", pciAddress: "0000:19:00.0", resourceName: undefined },
  ];
  const both = "PCIDEVICE_EXAMPLE_COM_VF=0000:18:02.1,0000:18:02.2";
  expect(cdiSpecification("u1", devices)).toEqual({
    cdiVersion: "0.6.0",
    kind: "plexus.dev/claim",
    devices: [
      { name: "u1-a", containerEdits: { env: ["PLEXUS_PCI_A=0000:18:02.1", both] } },
      { name: "u1-b.first", containerEdits: { env: ["PLEXUS_PCI_B_FIRST=0000:18:02.2", both] } },
      { name: "u1-c", containerEdits: { env: ["PLEXUS_PCI_C=0000:19:00.0"] } },
    ],
  });
  expect(cdiDeviceId("u1", "b/first")).toBe("plexus.dev/claim=u1-b.first");
  expect(cdiFile("u1")).toBe("plexus.dev-claim_u1.json");
});

test("DR-15: a request with several links has one CDI device with all of its addresses, because CDI refuses a name that occurs twice", () => {
  const devices = [
    { request: "a", pciAddress: "0000:18:02.1", resourceName: "example.com/vf" },
    { request: "a", pciAddress: "0000:19:00.0", resourceName: "example.com/nic" },
    { request: "a", pciAddress: "0000:18:02.2", resourceName: "example.com/vf" },
  ];
  const env = [
    "PLEXUS_PCI_A=0000:18:02.1,0000:19:00.0,0000:18:02.2",
    "PCIDEVICE_EXAMPLE_COM_VF=0000:18:02.1,0000:18:02.2",
    "PCIDEVICE_EXAMPLE_COM_NIC=0000:19:00.0",
  ];
  expect(cdiSpecification("u1", devices)).toMatchObject({ devices: [{ name: "u1-a", containerEdits: { env } }] });
  expect(cdiSpecification("u1", devices)).toHaveProperty("devices.length", 1);
});

test("DR-15: the device information is that of the specification", () => {
  expect(readDeviceInfo(JSON.stringify(pciDeviceInfo("0000:18:02.1")), "file")).toMatchObject({ ok: true });
});
