import { expect, test } from "vitest";
import { NodeDevices } from "./slice-devices.ts";

const driver = "nic.example.com";
const attributes = (deviceId: unknown, resourceName: unknown = "example.com/nic"): object => ({
  "k8s.cni.cncf.io/deviceID": { string: deviceId },
  "k8s.cni.cncf.io/resourceName": { string: resourceName },
});
const slice = (
  devices: Readonly<Record<string, object>>,
  { generation = 1, count = 1, ...more }: Readonly<Record<string, unknown>> = {},
): object => ({
  metadata: { name: "s" },
  spec: {
    driver,
    nodeName: "node",
    pool: { name: "nics", generation, resourceSliceCount: count },
    devices: Object.entries(devices).map(([name, each]) => ({ name, attributes: each })),
    ...more,
  },
});
const devicesOf = (...slices: readonly object[]): NodeDevices => {
  const devices = new NodeDevices(driver, "node");
  for (const each of slices) expect(devices.add(each)).toEqual({ ok: true, value: undefined });
  return devices;
};

test("MA-05: a device has the attributes of its pool's newest generation, whatever the order of the slices", () => {
  const old = slice({ vf: attributes("0000:18:02.1"), gone: attributes("0000:18:02.2") });
  const fresh = slice({ vf: attributes("0000:19:02.1") }, { generation: 2 });
  for (const slices of [
    [old, fresh],
    [fresh, old],
  ]) {
    const devices = devicesOf(...slices);
    expect(devices.find("nics", "vf")).toEqual({ deviceId: "0000:19:02.1", resourceName: "example.com/nic" });
    expect([devices.find("nics", "gone"), devices.find("others", "vf"), devices.isIncomplete("nics")]).toEqual([
      undefined,
      undefined,
      false,
    ]);
  }
});

test("MA-05: a slice of another node or driver is not used, even if the API answers with it", () => {
  const stray = { vf: attributes("0000:18:02.1") };
  const devices = devicesOf(
    slice(stray, { nodeName: "other" }),
    slice(stray, { driver: "evil.example.com" }),
    slice(stray, { nodeName: undefined, allNodes: true }),
  );
  expect(devices.find("nics", "vf")).toBeUndefined();
});

test("MA-05: a pool is incomplete until each slice of its newest generation is there", () => {
  const devices = devicesOf(slice({}), slice({ a: attributes("a") }, { generation: 2, count: 2 }));
  expect(devices.isIncomplete("nics")).toBe(true);
  devices.add(slice({ b: attributes("b") }, { generation: 2, count: 2 }));
  expect([devices.isIncomplete("nics"), devices.isIncomplete("unknown")]).toEqual([false, false]);
});

test("MA-05: an attribute that is no short visible text counts as absent", () => {
  const bad = ["a b", "a\nb", "", "x".repeat(65), 7, {}, null];
  const devices = devicesOf(slice(Object.fromEntries(bad.map((each, index) => [`vf-${index}`, attributes(each, each)]))));
  for (const index of bad.keys()) expect(devices.find("nics", `vf-${index}`)).toEqual({ deviceId: "", resourceName: "" });
});

test.each([
  [slice({}, { generation: "2" }), /ResourceSlice "s": spec\.pool has no generation/],
  [slice({}, { generation: -1 }), /no generation/],
  [slice(Object.fromEntries(Array.from({ length: 129 }, (__, index) => [`vf-${index}`, {}]))), /devices has 129 entries/],
  [slice({}, { devices: "none" }), /spec\.devices is not a list/],
])("MA-05: a malformed slice is refused (%#)", (object, problem) => {
  expect(new NodeDevices(driver, "node").add(object)).toEqual({ ok: false, problem: expect.stringMatching(problem) });
});
