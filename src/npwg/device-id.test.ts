import { describe, expect, test } from "vitest";
import { parseNetworkList } from "../cni/network-list.ts";
import { DeviceAllocation, withDeviceId } from "./device-id.ts";

describe("the devices of a pod", () => {
  test("DI-10: two networks of one resource get the devices of two containers in the kubelet's order", () => {
    const devices = new DeviceAllocation([
      { resourceName: "example.com/nic", deviceIds: ["0000:18:0a.7"] },
      { resourceName: "example.com/other", deviceIds: ["x"] },
      { resourceName: "example.com/nic", deviceIds: ["0000:18:02.1", "0000:18:01.1"] },
    ]);
    const next = (): string | undefined => devices.next("example.com/nic");
    expect([next(), next(), next(), next()]).toEqual(["0000:18:0a.7", "0000:18:02.1", "0000:18:01.1", undefined]);
    expect([devices.next("example.com/other"), devices.next("example.com/unknown")]).toEqual(["x", undefined]);
  });

  test("MA-04: a device that a selection names is taken once, and must be the pod's if there is a kubelet", () => {
    const devices = new DeviceAllocation([{ resourceName: "example.com/nic", deviceIds: ["a", "b", "c"] }]);
    expect([devices.take("example.com/nic", "b"), devices.take("example.com/nic", "b")]).toEqual([true, false]);
    expect([devices.take("example.com/nic", "x"), devices.take("example.com/other", "a")]).toEqual([false, false]);
    expect([devices.next("example.com/nic"), devices.next("example.com/nic")]).toEqual(["a", "c"]);
    expect(new DeviceAllocation(undefined).take("example.com/nic", "x")).toBe(true);
  });
});

describe("the device in a network's configuration", () => {
  const text =
    '{"name":"a","cniVersion":"1.0.0","big":9007199254740993,"plugins":[{"type":"sriov", "x":1e400},{"type":"tuning","pciBusID":"mine"}]}';

  test("MC-25: every plugin gets deviceID and pciBusID, except a plugin that has the key", () => {
    const list = parseNetworkList(text, "list");
    const changed = list.ok ? withDeviceId(list.value, "0000:18:02.5") : list;
    expect(changed.ok && changed.value.text).toBe(
      text
        .replace("1e400}", '1e400,"deviceID":"0000:18:02.5","pciBusID":"0000:18:02.5"}')
        .replace('"mine"}', '"mine","deviceID":"0000:18:02.5"}'),
    );
    expect(changed.ok && changed.value.plugins.map((plugin) => plugin.document.text)).toEqual([
      '{"type":"sriov", "x":1e400,"deviceID":"0000:18:02.5","pciBusID":"0000:18:02.5"}',
      '{"type":"tuning","pciBusID":"mine","deviceID":"0000:18:02.5"}',
    ]);
  });

  test("MC-25: a list whose plugins have both keys stays unchanged", () => {
    const full = '{"name":"a","plugins":[{"type":"sriov","deviceID":"","pciBusID":null}]}';
    const list = parseNetworkList(full, "list");
    const changed = list.ok ? withDeviceId(list.value, "0000:18:02.5") : list;
    expect(changed.ok && changed.value.text).toBe(full);
  });
});
