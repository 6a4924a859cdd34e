import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Kubelet, type PodResources, startKubelet } from "../../../test/lab/kubelet.ts";
import { allocatedDevices } from "./allocated-devices.ts";
import { byteFields } from "./protobuf.ts";

const nic = "example.com/nic";
const web = { namespace: "shop", name: "web", uid: "uid-web" };
const devices = (...deviceIds: readonly string[]) => [{ resourceName: nic, deviceIds, topology: { nodes: [{ ID: 1 }] } }];

function entry(podUid: string, deviceIds: unknown): object {
  return { PodUID: podUid, ContainerName: "main", ResourceName: nic, DeviceIDs: deviceIds, AllocResp: "CgA=" };
}

describe("the devices of a pod", () => {
  let directory: string;
  let kubelet: Kubelet | undefined;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "plexus-kubelet-"));
    kubelet = undefined;
  });
  afterEach(() => {
    kubelet?.stop();
    rmSync(directory, { recursive: true });
  });

  const socket = (): string => join(directory, "pod-resources", "kubelet.sock");
  const serve = async (pods: () => readonly PodResources[]): Promise<void> => {
    kubelet = await startKubelet(socket(), pods);
  };
  /** All devices of the pod for the resource, in order. */
  const allocated = async (): Promise<readonly string[]> => {
    const allocation = await allocatedDevices(web, directory);
    if (!allocation.ok) throw new Error(allocation.fault.msg);
    const all: string[] = [];
    for (let next = allocation.value.next(nic); next !== undefined; next = allocation.value.next(nic)) all.push(next);
    return all;
  };
  const checkpoint = (content: unknown): void => {
    mkdirSync(join(directory, "device-plugins"), { recursive: true });
    writeFileSync(join(directory, "device-plugins", "kubelet_internal_checkpoint"), JSON.stringify(content));
  };
  test("MA-03, DI-10: come from the kubelet's service, in its order, without other pods' devices", async () => {
    await serve(() => [
      { name: "web", namespace: "other", containers: [{ name: "a", devices: devices("x") }] },
      {
        name: "web",
        namespace: "shop",
        containers: [
          { name: "b", cpuIds: [1, 2, 3_000_000_000], devices: devices("0000:18:0a.7", "0000:18:02.1") },
          { name: "a", devices: [{ resourceName: "example.com/gpu", deviceIds: ["g"] }, ...devices("0000:18:01.1")] },
        ],
      },
      { name: "db", namespace: "shop", containers: [{ name: "a", devices: devices("y") }] },
    ]);
    checkpoint({ Data: { PodDeviceEntries: [entry("uid-web", ["from-checkpoint"])] } });
    expect(await allocated()).toEqual(["0000:18:0a.7", "0000:18:02.1", "0000:18:01.1"]);
  });

  test("MA-03: are found among a thousand pods", async () => {
    const pods = Array.from({ length: 1000 }, (_, index) => ({
      name: index === 777 ? "web" : `pod-${index}`,
      namespace: "shop",
      containers: [{ name: "a", devices: devices(...Array.from({ length: 20 }, (__, each) => `${index}-${each}`)) }],
    }));
    await serve(() => pods);
    expect((await allocated()).slice(0, 2)).toEqual(["777-0", "777-1"]);
  });

  test("MA-03: come from the checkpoint without the service, in both formats", async () => {
    expect(await allocated()).toEqual([]);
    checkpoint({
      Data: { PodDeviceEntries: [entry("other", ["x"]), entry("uid-web", ["b", "a"])], RegisteredDevices: {} },
      Checksum: 1,
    });
    expect(await allocated()).toEqual(["b", "a"]);
    checkpoint({ Data: { PodDeviceEntries: [entry("uid-web", { "1": ["d"], "-1": ["c"] })] } });
    expect(await allocated()).toEqual(["d", "c"]);
  });

  test("MA-03: are a fault with code 11 after an error of the service or with a malformed checkpoint", async () => {
    checkpoint([]);
    const refused = { ok: false, fault: { kind: "KUBELET_UNREADABLE", code: 11 } };
    expect(await allocatedDevices(web, directory)).toMatchObject(refused);
    await serve(() => {
      throw new Error("not now");
    });
    expect(await allocatedDevices(web, directory)).toMatchObject({
      ...refused,
      fault: { msg: expect.stringMatching(/status 14: .*not now/) },
    });
  });

  test("A-07: are a fault if the service does not answer with HTTP/2", async () => {
    mkdirSync(join(directory, "pod-resources"));
    const server = createServer((connection) => connection.end("HTTP/1.1 200 OK\r\n\r\n"));
    await new Promise<void>((resolve) => void server.listen(socket(), resolve));
    try {
      expect(await allocatedDevices(web, directory)).toMatchObject({ ok: false, fault: { kind: "KUBELET_UNREADABLE" } });
    } finally {
      server.close();
    }
  });
});

test("byteFields finds the fields of bytes and refuses a message that is truncated or malformed", () => {
  const message = Uint8Array.of(0x08, 0x96, 0x01, 0x12, 2, 0x68, 0x69, 0x19, 1, 2, 3, 4, 5, 6, 7, 8, 0x12, 0);
  expect(byteFields(message)).toEqual(new Map([[2, [Uint8Array.of(0x68, 0x69), new Uint8Array(0)]]]));
  expect(byteFields(new Uint8Array(0))).toEqual(new Map());
  const completeLengths = [0, 3, 7, 16, 18];
  for (let length = 0; length <= message.length; length++) {
    expect(byteFields(message.subarray(0, length)) !== undefined).toBe(completeLengths.includes(length));
  }
  for (const bad of [[0x00], [0x0b], [0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], [0x12, 0x80]]) {
    expect(byteFields(Uint8Array.from(bad))).toBeUndefined();
  }
});
