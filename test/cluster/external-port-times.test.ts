// Times of external ports on a real API server with a real Neutron and OVN, by choice: PLEXUS_PORT_TIMES=FILE writes them to the file, whose other rows stay.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { externalPortName, readExternalPort } from "../../features/external-ports/rules/external-port.ts";
import { startController, type TestController } from "../lab/controller.ts";
import { applyObjects, objectsOf } from "../lab/kube/apply.ts";
import { type ApiServer, startApiServer } from "../lab/kube/api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { networkRequests } from "../lab/kube/network-requests.ts";
import { type FaultProxy, startFaultProxy } from "../lab/neutron/fault-proxy.ts";
import { type Neutron, startNeutron } from "../lab/neutron/neutron.ts";
import { missingNeutron } from "../lab/neutron/packages.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";
import type { Stage } from "../lab/stage.ts";
import { missingForKube, openNodeStage } from "../lab/kube/node.ts";
import { fabricComponents, type FabricPod, fabricPlugin, openFabricNode, type ReadyPort } from "./fabric-node.ts";

const file = process.env["PLEXUS_PORT_TIMES"];
const byChoice = (): string | undefined => (file === undefined ? "a measurement, by choice: PLEXUS_PORT_TIMES=FILE" : undefined);
const pods = 10;
const portRequests = ["externalports", "externalports/status", "events"].flatMap((resource) =>
  ["get", "list", "watch", "create", "update", "patch", "delete"].map((verb) => `${verb} ${resource}`),
);

function round(value = 0): number {
  return Math.round(value * 10) / 10;
}

function figuresOf(ms: readonly number[]): { readonly medianMs: number; readonly maxMs: number } {
  const sorted = ms.toSorted((a, b) => a - b);
  return { medianMs: round(sorted[Math.floor(sorted.length / 2)]), maxMs: round(sorted.at(-1)) };
}

function pathOf(uid: string): string {
  return `/apis/plexus.dev/v1alpha1/namespaces/shop/externalports/${externalPortName(uid, 0)}`;
}

/** Writes the rows into the file, whose other rows stay. */
function record(rows: Readonly<Record<string, ReturnType<typeof figuresOf>>>): void {
  const before = existsSync(file ?? "") ? JSON.parse(readFileSync(file ?? "", "utf8")) : {};
  const times = {
    machine: `a machine with ${availableParallelism()} cores that had other work`,
    ...before,
    day: new Date().toISOString().slice(0, 10),
    pods,
    rows: { ...before.rows, ...rows },
  };
  writeFileSync(file ?? "", `${JSON.stringify(times, null, 2)}\n`);
}

const unable = missing("times of external ports", byChoice, privateNamespaces, kubeApi, missingNeutron);

describe.skipIf(unable || missingForKube("times of external ports"))("the times of an external port", () => {
  const directory = mkdtempSync(join(tmpdir(), "plexus-port-times-"));
  let api: ApiServer;
  let objects: ApiObjects;
  let neutron: Neutron;
  /** Sends the requests one after the other, because SQLite has one writer. */
  let proxy: FaultProxy;
  let controller: TestController;
  let subnet: string;
  let stage: Stage;
  let replicas = 0;

  const free = async (): Promise<number> => (await neutron.request("GET", "/ports?name=plexus:test:free")).ports.length;
  const start = async (ahead: readonly object[]): Promise<void> => {
    const settings = { url: proxy.url, auth: { type: "none" }, podSubnet: subnet, portSecurity: false, ahead };
    const providers = [{ name: "neutron", type: "neutron", namespaces: ["shop"], owner: "test", neutron: settings }];
    writeFileSync(join(directory, "providers.yaml"), JSON.stringify({ providers }));
    controller = await startController({
      identity: `times-${replicas++}`,
      kubeconfig: api.adminKubeconfig,
      args: ["--external-ports", join(directory, "providers.yaml")],
    });
  };
  /** Pods one after the other: each time from the pod's creation until its port is Ready. */
  const measure = async (ahead: readonly object[]): Promise<readonly number[]> => {
    await start(ahead);
    if (ahead.length > 0) await expect.poll(free).toBe(pods + 1);
    // The first port also asks for the subnet and the network.
    await timeOf("first");
    const times: number[] = [];
    for (let count = 0; count < pods; count++) times.push(await timeOf(`pod-${count}`));
    await expect
      .poll(async () => (await neutron.request("GET", "/ports?tags=plexus-owner:test")).ports.length)
      .toBeLessThanOrEqual(pods + 1);
    await controller.stop();
    return times;
  };
  const untilReady = async (uid: string): Promise<ReadyPort> => {
    let port: ReadyPort | undefined;
    const isReady = async (): Promise<boolean> => {
      const answer = await objects.get(pathOf(uid));
      const read = answer.kind === "object" ? readExternalPort(answer.object) : undefined;
      if (read?.ok === true) port = read.value.port;
      return read?.ok === true && read.value.conditions.some(({ type, status }) => type === "Ready" && status === "True");
    };
    await expect
      .poll(isReady, { timeout: 60_000, interval: 5 })
      .toBe(true)
      .catch((error: unknown) => {
        throw new Error(`${String(error)}\n${controller.stderr()}`, { cause: error });
      });
    return port ?? {};
  };
  const deletePod = async (name: string, uid: string): Promise<void> => {
    await api.deletePod("shop", name);
    const isGone = async (): Promise<boolean> => (await objects.get(pathOf(uid))).kind === "absent";
    await expect.poll(isGone, { timeout: 60_000, interval: 50 }).toBe(true);
  };
  const timeOf = async (name: string): Promise<number> => {
    const began = performance.now();
    const { uid } = await api.pod("shop", name, "fabric");
    await untilReady(uid);
    const ms = performance.now() - began;
    await deletePod(name, uid);
    return ms;
  };

  beforeAll(async () => {
    stage = openNodeStage([], fabricComponents);
    [api, neutron] = await Promise.all([
      startApiServer({ alsoAllowed: [...networkRequests, ...portRequests] }),
      startNeutron({ name: "node", netns: stage.node.path }),
    ]);
    proxy = await startFaultProxy(neutron.url);
    objects = objectsOf(api.adminKubeconfig);
    await applyObjects(objects, "deploy/helm/plexus/files/external-ports.yaml");
    const network = (await neutron.request("POST", "/networks", { network: { name: "pods" } })).network.id;
    const body = { network_id: network, ip_version: 4, cidr: "10.9.0.0/24", enable_dhcp: false };
    subnet = (await neutron.request("POST", "/subnets", { subnet: body })).subnet.id;
    await api.network("shop", "fabric", [fabricPlugin], { "openstack.org/kuryr-config": "{}" });
  });
  afterAll(async () => {
    await controller?.kill();
    objects?.close();
    proxy?.dispose();
    await Promise.all([api?.dispose(), neutron?.dispose()]);
    stage?.dispose();
    rmSync(directory, { recursive: true, force: true });
  });

  test("from the pod's creation to Ready are measured with and without a pool", async () => {
    const askedToReady = figuresOf(await measure([]));
    // The pool is not filled again while the pods are made.
    const askedToReadyFromPool = figuresOf(await measure([{ subnet, min: 1, max: pods + 1 }]));
    record({ askedToReady, askedToReadyFromPool });
    expect(askedToReady.medianMs).toBeGreaterThan(0);
  }, 300_000);

  test("from Ready until Neutron says ACTIVE are measured for pods that Plexus plugs", async () => {
    await start([]);
    const node = openFabricNode(stage, api, neutron);
    const plugged: FabricPod[] = [];
    // The first call also compiles the component.
    for (let count = 0; count <= pods; count++) {
      const name = `plugged-${count}`;
      const pod = await node.plug(name, "fabric", untilReady);
      if (count > 0) plugged.push(pod);
      await node.succeed("DEL", pod.attaching);
      await deletePod(name, pod.uid);
    }
    const readyToPlugged = figuresOf(plugged.map(({ readyToPluggedMs }) => readyToPluggedMs));
    const pluggedToActive = figuresOf(plugged.map(({ pluggedToActiveMs }) => pluggedToActiveMs));
    record({ readyToPlugged, pluggedToActive });
    expect(readyToPlugged.medianMs).toBeGreaterThan(0);
  }, 300_000);
});
