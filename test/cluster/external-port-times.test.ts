// Times of external ports on a real API server with a real Neutron and OVN, by choice: PLEXUS_PORT_TIMES=FILE writes them to the file, whose other rows stay.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { externalPortName, readExternalPort } from "../../src/external-port/external-port.ts";
import { startController, type TestController } from "../harness/controller.ts";
import { applyObjects, objectsOf } from "../harness/kube/apply.ts";
import { type ApiServer, startApiServer } from "../harness/kube/api-server.ts";
import { kubeApi } from "../harness/kube/binaries.ts";
import { networkRequests } from "../harness/kube/network-requests.ts";
import { type FaultProxy, startFaultProxy } from "../harness/neutron/fault-proxy.ts";
import { type Neutron, startNeutron } from "../harness/neutron/neutron.ts";
import { missingNeutron } from "../harness/neutron/packages.ts";
import { missing, privateNamespaces } from "../harness/requires.ts";

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

describe.skipIf(missing("times of external ports", byChoice, privateNamespaces, kubeApi, missingNeutron))(
  "the times of an external port",
  () => {
    const directory = mkdtempSync(join(tmpdir(), "plexus-port-times-"));
    let api: ApiServer;
    let objects: ApiObjects;
    let neutron: Neutron;
    /** Sends the requests one after the other, because SQLite has one writer. */
    let proxy: FaultProxy;
    let controller: TestController;
    let subnet: string;

    const free = async (): Promise<number> => (await neutron.request("GET", "/ports?name=plexus:test:free")).ports.length;
    /** Pods one after the other: each time from the pod's creation until its port is Ready. */
    const measure = async (ahead: readonly object[]): Promise<readonly number[]> => {
      const settings = { url: proxy.url, auth: { type: "none" }, podSubnet: subnet, portSecurity: false, ahead };
      const providers = [{ name: "neutron", type: "neutron", namespaces: ["shop"], owner: "test", neutron: settings }];
      writeFileSync(join(directory, "providers.yaml"), JSON.stringify({ providers }));
      controller = await startController({
        identity: `times-${ahead.length}`,
        kubeconfig: api.adminKubeconfig,
        args: ["--external-ports", join(directory, "providers.yaml")],
      });
      if (ahead.length > 0) await expect.poll(free, { timeout: 60_000 }).toBe(pods + 1);
      // The first port also asks for the subnet and the network.
      await timeOf("first");
      const times: number[] = [];
      for (let count = 0; count < pods; count++) times.push(await timeOf(`pod-${count}`));
      await expect
        .poll(async () => (await neutron.request("GET", "/ports?tags=plexus-owner:test")).ports.length, { timeout: 60_000 })
        .toBeLessThanOrEqual(pods + 1);
      await controller.stop();
      return times;
    };
    const timeOf = async (name: string): Promise<number> => {
      const began = performance.now();
      const { uid } = await api.pod("shop", name, "fabric");
      const path = `/apis/plexus.dev/v1alpha1/namespaces/shop/externalports/${externalPortName(uid, 0)}`;
      const isReady = async (): Promise<boolean> => {
        const answer = await objects.get(path);
        const read = answer.kind === "object" ? readExternalPort(answer.object) : undefined;
        return read?.ok === true && read.value.conditions.some(({ type, status }) => type === "Ready" && status === "True");
      };
      await expect
        .poll(isReady, { timeout: 60_000, interval: 5 })
        .toBe(true)
        .catch((error: unknown) => {
          throw new Error(`${String(error)}\n${controller.stderr()}`, { cause: error });
        });
      const ms = performance.now() - began;
      await api.deletePod("shop", name);
      const isGone = async (): Promise<boolean> => (await objects.get(path)).kind === "absent";
      await expect.poll(isGone, { timeout: 60_000, interval: 50 }).toBe(true);
      return ms;
    };

    beforeAll(async () => {
      [api, neutron] = await Promise.all([
        startApiServer({ alsoAllowed: [...networkRequests, ...portRequests] }),
        startNeutron("node"),
      ]);
      proxy = await startFaultProxy(neutron.url);
      objects = objectsOf(api.adminKubeconfig);
      await applyObjects(objects, "deploy/helm/plexus/files/external-ports.yaml");
      const network = (await neutron.request("POST", "/networks", { network: { name: "pods" } })).network.id;
      const body = { network_id: network, ip_version: 4, cidr: "10.9.0.0/24", enable_dhcp: false };
      subnet = (await neutron.request("POST", "/subnets", { subnet: body })).subnet.id;
      await api.network("shop", "fabric", [{ type: "external-port" }], { "openstack.org/kuryr-config": "{}" });
    });
    afterAll(async () => {
      await controller?.kill();
      objects?.close();
      proxy?.dispose();
      await Promise.all([api?.dispose(), neutron?.dispose()]);
      rmSync(directory, { recursive: true, force: true });
    });

    test("from the pod's creation to Ready are measured with and without a pool", async () => {
      const askedToReady = figuresOf(await measure([]));
      // The pool is not filled again while the pods are made.
      const askedToReadyFromPool = figuresOf(await measure([{ subnet, min: 1, max: pods + 1 }]));
      const before = existsSync(file ?? "") ? JSON.parse(readFileSync(file ?? "", "utf8")) : {};
      const times = {
        machine: `a machine with ${availableParallelism()} cores that had other work`,
        ...before,
        day: new Date().toISOString().slice(0, 10),
        pods,
        rows: { ...before.rows, askedToReady, askedToReadyFromPool },
      };
      writeFileSync(file ?? "", `${JSON.stringify(times, null, 2)}\n`);
      expect(times.rows.askedToReady.medianMs).toBeGreaterThan(0);
    }, 300_000);
  },
);
