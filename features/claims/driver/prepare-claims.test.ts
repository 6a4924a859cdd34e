import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ObjectAnswer } from "../../../host/cluster/kube/api-objects.ts";
import { ClaimStore, claimDirectory } from "../node/claim-store.ts";
import { sweepClaims } from "../node/sweep-claims.ts";
import { readDeviceSettings } from "../rules/device-settings.ts";
import type { NodeLink } from "../rules/node-link.ts";
import { type OfferedDevice, offeredDevices } from "../rules/offered-devices.ts";
import { DeviceFiles } from "./device-files.ts";
import { prepareClaims, type PrepareDeps, unprepareClaims } from "./prepare-claims.ts";

let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), "plexus-prepare-"))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const link = (index: number): NodeLink => ({
  name: `eth${index}`,
  kind: "link",
  isUp: true,
  isAdminUp: true,
  mtu: 1500,
  speed: undefined,
  driver: "mlx5_core",
  pciAddress: `0000:18:02.${index}`,
  pcieRoot: undefined,
  pciVendor: undefined,
  numaNode: undefined,
  hasRdma: false,
});

/** The virtual functions vf-eth1 and vf-eth2. */
function virtualFunctions(): readonly OfferedDevice[] {
  const entry = { name: "vf", match: { driver: "mlx5_core" }, exclusive: true, resourceName: "example.com/vf" };
  const settings = readDeviceSettings(JSON.stringify({ devices: [entry] }));
  if (!settings.ok) throw new Error(settings.problem);
  return offeredDevices(settings.value, [link(1), link(2)]).devices;
}

const named = (uid: string) => ({ namespace: "shop", name: `claim-${uid}`, uid });

/** A claim from the template of a pod, with these requests and devices, as the API has it. */
function allocated(uid: string, results: readonly (readonly [string, string])[]): Readonly<Record<string, unknown>> {
  const devices = results.map(([request, device]) => ({ request, driver: "plexus.dev", pool: "n1", device }));
  return {
    metadata: { ...named(uid), ownerReferences: [{ kind: "Pod", name: "web", controller: true }] },
    status: {
      allocation: { devices: { results: devices, config: [] } },
      reservedFor: [{ resource: "pods", name: "web", uid: `pod-${uid}` }],
    },
  };
}

function driver(get: (path: string) => Promise<ObjectAnswer>): PrepareDeps {
  return {
    calls: new Set(),
    nodeName: "n1",
    api: async () => ({ get }),
    store: new ClaimStore(directory),
    files: new DeviceFiles(join(directory, "cdi"), directory),
    device: (name) => virtualFunctions().find((each) => each.name === name),
  };
}

/** A driver whose API has these claims. */
function driverWith(...claims: readonly (readonly [string, readonly (readonly [string, string])[]])[]): PrepareDeps {
  return driver(async (path) => {
    const found = claims.find(([uid]) => path.endsWith(`/claim-${uid}`));
    return found === undefined ? { kind: "absent", why: "HTTP 404" } : { kind: "object", object: allocated(found[0], found[1]) };
  });
}

const information = (index: number): string =>
  join(directory, `var/run/k8s.cni.cncf.io/devinfo/dp/example.com-vf-0000:18:02.${index}-device.json`);
const filesOf = (path: string): readonly string[] => (existsSync(path) ? readdirSync(path) : []);
/** All files of claims but device information. */
const claimFiles = (): readonly string[] => [...filesOf(claimDirectory(directory)), ...filesOf(join(directory, "cdi"))];

test("DR-05, DR-15: the answer names the request of an alternative, which is the name that a container has", async () => {
  const deps = driverWith(["u1", [["nic/fast", "vf-eth1"]]]);
  expect(await prepareClaims(deps, { claims: [named("u1")] })).toMatchObject({
    claims: { u1: { devices: [{ request_names: ["nic"], cdi_device_ids: ["plexus.dev/claim=u1-nic.fast"] }] } },
  });
});

test("DR-15: two devices of one request have one CDI device, whose name the specification and the answer have once", async () => {
  const deps = driverWith([
    "u1",
    [
      ["nics", "vf-eth1"],
      ["nics", "vf-eth2"],
    ],
  ]);
  const device = { request_names: ["nics"], pool_name: "n1" };
  expect(await prepareClaims(deps, { claims: [named("u1")] })).toEqual({
    claims: {
      u1: {
        devices: [
          { ...device, device_name: "vf-eth1", cdi_device_ids: ["plexus.dev/claim=u1-nics"] },
          { ...device, device_name: "vf-eth2" },
        ],
      },
    },
  });
  const specification: unknown = JSON.parse(readFileSync(join(directory, "cdi", "plexus.dev-claim_u1.json"), "utf8"));
  expect(specification).toHaveProperty("devices.length", 1);
});

test("DR-11, DR-15: a claim that is unprepared after its device's next claim was prepared leaves the device's information", async () => {
  const device = [["net", "vf-eth1"]] as const;
  const deps = driverWith(["u2", device], ["u1", device]);
  await prepareClaims(deps, { claims: [named("u1")] });
  await prepareClaims(deps, { claims: [named("u2")] });
  unprepareClaims(deps, { claims: [named("u1")] });
  expect(existsSync(information(1))).toBe(true);
  unprepareClaims(deps, { claims: [named("u2")] });
  expect(existsSync(information(1))).toBe(false);
  expect(claimFiles()).toEqual([]);
});

test("DR-11, DR-15: the sweep of a claim that was deleted by force leaves the information of its device's next claim", async () => {
  const device = [["net", "vf-eth1"]] as const;
  const deps = driverWith(["u1", device], ["u2", device]);
  await prepareClaims(deps, { claims: [named("u1"), named("u2")] });
  const journal = { list: () => ({ ok: true as const, value: [] }), load: () => ({ ok: true as const, value: undefined }) };
  const api = {
    get: async (path: string): Promise<ObjectAnswer> =>
      path.endsWith("u1") ? { kind: "absent", why: "HTTP 404" } : { kind: "object", object: allocated("u2", device) },
  };
  expect(await sweepClaims({ ...deps, journal, api })).toEqual({ ok: true, value: 1 });
  expect(existsSync(information(1))).toBe(true);
});

test("DR-11: an Unprepare while Prepare waits for the API leaves no file, and the claim can be prepared later", async () => {
  const waits = Promise.withResolvers<ObjectAnswer>();
  const deps = driver(() => waits.promise);
  const prepared = prepareClaims(deps, { claims: [named("u1")] });
  await new Promise((resolve) => setImmediate(resolve));
  expect(unprepareClaims(deps, { claims: [named("u1")] })).toEqual({ claims: { u1: {} } });
  waits.resolve({ kind: "object", object: allocated("u1", [["net", "vf-eth1"]]) });
  expect(await prepared).toMatchObject({
    claims: { u1: { error: "resource claim shop/claim-u1 was unprepared while it was read from the Kubernetes API" } },
  });
  expect(claimFiles()).toEqual([]);
  expect(existsSync(information(1))).toBe(false);
  expect(await prepareClaims(deps, { claims: [named("u1")] })).toMatchObject({ claims: { u1: { devices: [{}] } } });
  expect(claimFiles()).toHaveLength(2);
});
