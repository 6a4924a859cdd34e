import { expect, test } from "vitest";
import { type ClaimedDevices, type PublishedDevice, usableDevices } from "./claimed-devices.ts";

const nic = "example.com/nic";
const published = (
  device: string,
  deviceId: string | undefined,
  more: Partial<PublishedDevice> = {},
  shareId = "",
): PublishedDevice => ({
  allocated: { request: "nics", driver: "nic.example.com", pool: "node", device, shareId },
  attributes: deviceId === undefined ? undefined : { deviceId, resourceName: nic },
  extendedResources: [],
  ...more,
});
const all = (devices: ClaimedDevices, resourceName = nic): readonly string[] => {
  const next = devices.next(resourceName);
  return next === undefined ? [] : [next, ...all(devices, resourceName)];
};

test("MA-05: two networks of one resource get two devices in the order of the claims, and a claim that is named twice counts once", () => {
  const twice = [published("vf-2", "b"), published("vf-1", "a"), published("vf-2", "b")];
  expect(all(usableDevices(twice))).toEqual(["b", "a"]);
});

test("MA-05: a named device is taken once, and only if a claim has it", () => {
  const devices = usableDevices([published("vf-1", "a"), published("vf-2", "b")]);
  expect([devices.take(nic, "b"), devices.take(nic, "b"), devices.take(nic, "x"), devices.take("example.com/x", "a")]).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect(all(devices)).toEqual(["a"]);
});

test("MA-05: a device of an extended resource is found by either name, and is given once", () => {
  const extended = { extendedResources: ["deviceclass.resource.kubernetes.io/nics"] };
  const devices = usableDevices([published("vf-1", "a", extended), published("vf-2", "b", extended)]);
  expect([devices.next("deviceclass.resource.kubernetes.io/nics"), all(devices), all(devices, "example.com/x")]).toEqual([
    "a",
    ["b"],
    [],
  ]);
  const unnamed = published("vf-1", "a", { attributes: { deviceId: "a", resourceName: "" }, ...extended });
  expect(all(usableDevices([unnamed]), "deviceclass.resource.kubernetes.io/nics")).toEqual(["a"]);
});

test("MA-05: a device that no network can use is left out with a reason, and the others are given", () => {
  const gpu = { ...published("gpu", ""), attributes: { deviceId: "", resourceName: "" } };
  const unnamed = { ...published("vf-3", "c"), attributes: { deviceId: "c", resourceName: "" } };
  const devices = usableDevices([gpu, published("vf-1", "a"), unnamed, published("gone", undefined), published("double", "a")]);
  expect(devices.notes).toEqual([
    "device node/gpu of driver nic.example.com has no attribute k8s.cni.cncf.io/deviceID",
    "device node/vf-3 of driver nic.example.com has no attribute k8s.cni.cncf.io/resourceName",
    "device node/gone of driver nic.example.com is in no ResourceSlice of the node",
    "device node/double of driver nic.example.com has the device ID of another device",
  ]);
  expect(all(devices)).toEqual(["a"]);
});

test("MA-05: two shares of one device serve two networks", () => {
  expect(all(usableDevices([published("pf", "eth1", {}, "s1"), published("pf", "eth1", {}, "s2")]))).toEqual(["eth1", "eth1"]);
});
