// controller-rss-large: the memory of plexus-controller with 60,000 pods that name PodNetworks and 2,000 definitions. A stand-in API serves the lists
// in pages, and watches that stay silent.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { startController } from "../test/lab/controller.ts";
import { makeAuthority } from "../test/lab/kube/certificates.ts";
import { writeKubeconfig } from "../test/lab/kube/kubeconfig.ts";
import { type Benchmark, memoryRows } from "./measure.ts";
import { highestRssMiB, rssMiB } from "./observed-daemon.ts";

const counts = { podnetworks: 200, pods: 60_000, definitions: 2_000 };
/** MiB, of issue 21. */
const maxController = 150;

type MakeObject = (index: number) => object;

const networks = (index: number): string =>
  JSON.stringify([0, 1].map((n) => ({ podNetworkName: `net-${(index + n) % counts.podnetworks}` })));

const collections = new Map<string, { readonly count: number; readonly make: MakeObject }>([
  [
    "/apis/plexus.dev/v1alpha1/podnetworks",
    {
      count: counts.podnetworks,
      make: (index) => ({
        metadata: {
          name: index === 0 ? "default" : `net-${index}`,
          uid: `u${index}`,
          resourceVersion: "1",
          generation: 1,
          finalizers: ["plexus.dev/in-use"],
        },
        spec: { enabled: true, provider: "k8s.cni.cncf.io/plexus" },
        status: {
          phase: "InUse",
          conditions: [
            {
              type: "Ready",
              status: "True",
              reason: "Ready",
              message: "pods can be attached",
              lastTransitionTime: "2026-11-24T00:00:00Z",
              observedGeneration: 1,
            },
          ],
        },
      }),
    },
  ],
  ["/apis/plexus.dev/v1alpha1/podnetworkattachments", { count: 0, make: () => ({}) }],
  [
    "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions",
    {
      count: counts.definitions,
      make: (index) => ({
        metadata: { namespace: "nets", name: `net-${index}`, uid: `d${index}`, resourceVersion: "1" },
        spec: {
          config: JSON.stringify({
            cniVersion: "1.0.0",
            name: `net-${index}`,
            plugins: [{ type: "bridge", note: "x".repeat(600) }],
          }),
        },
      }),
    },
  ],
  [
    "/api/v1/pods",
    {
      count: counts.pods,
      make: (index) => ({
        metadata: {
          namespace: `team-${index % 40}`,
          name: `app-${index}`,
          uid: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
          resourceVersion: "1",
          labels: { "plexus.dev/networks": "open", app: "web" },
          annotations: { "plexus.dev/networks": networks(index), "example.com/long": "x".repeat(1_000) },
        },
      }),
    },
  ],
]);

/** One page of a collection. */
function page({ count, make }: { readonly count: number; readonly make: MakeObject }, query: URLSearchParams): object {
  const from = Number(query.get("continue") ?? 0);
  const to = Math.min(count, from + Number(query.get("limit") ?? count));
  const items = Array.from({ length: to - from }, (_, index) => make(from + index));
  return { kind: "List", metadata: { resourceVersion: "1", ...(to < count ? { continue: String(to) } : {}) }, items };
}

/** The stand-in's answers: a Lease that exists only once it was written, lists in pages, and silent watches. */
function serving(): (request: IncomingMessage, response: ServerResponse) => void {
  let lease: string | undefined;
  return (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "https://stand-in");
    response.setHeader("Content-Type", "application/json");
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (request.method !== "GET") {
        const written = JSON.parse(Buffer.concat(chunks).toString("utf8"));
        if (pathname.includes("/leases"))
          lease = JSON.stringify({ ...written, metadata: { ...written.metadata, resourceVersion: "1" } });
        return void response.end(pathname.includes("/leases") ? lease : JSON.stringify(written));
      }
      if (pathname.includes("/leases/")) {
        return void response
          .writeHead(lease === undefined ? 404 : 200)
          .end(lease ?? JSON.stringify({ kind: "Status", code: 404 }));
      }
      const collection = collections.get(pathname);
      if (collection === undefined) return void response.writeHead(404).end(JSON.stringify({ kind: "Status", code: 404 }));
      if (searchParams.has("watch")) return response.flushHeaders();
      return void response.end(JSON.stringify(page(collection, searchParams)));
    });
  };
}

interface Memory {
  readonly now: number;
  readonly highest: number;
}

async function measure(): Promise<Memory> {
  const directory = mkdtempSync(join(tmpdir(), "plexus-bench-controller-"));
  const authority = makeAuthority(join(directory, "pki"), "stand-in authority");
  const pair = authority.issue("server", { commonName: "stand-in", alternativeNames: ["IP:127.0.0.1"] });
  const server = createServer({ cert: readFileSync(pair.certificate), key: readFileSync(pair.key) }, serving());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = `https://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  const kubeconfig = writeKubeconfig(directory, { url, authority }, "plexus", [], { user: { token: "stand-in" } });
  const controller = await startController({ identity: "bench", kubeconfig, leaseSeconds: 15, args: ["--pod-networks"] });
  try {
    const deadline = Date.now() + 90_000;
    const all = new RegExp(`^plexus_controller_watch_objects\\{collection="pods with networks"\\} ${counts.pods}$`, "m");
    while (!all.test((await controller.page("/metrics")).body)) {
      if (Date.now() > deadline) throw new Error(`the controller has not listed all pods after 90 s: ${controller.stderr()}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    const measurements: number[] = [];
    for (let look = 0; look < 5; look++) {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      measurements.push(rssMiB(controller.pid));
    }
    return { now: measurements.toSorted((a, b) => a - b)[2] ?? Number.NaN, highest: highestRssMiB(controller.pid) };
  } finally {
    await controller.kill();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(directory, { recursive: true, force: true });
  }
}

const row = memoryRows(measure);
const crowd = `${counts.pods.toLocaleString("en")} pods that name networks and ${counts.definitions.toLocaleString("en")} definitions`;

export const controllerBenchmarks: readonly Benchmark[] = [
  row(
    "controller-rss-large",
    `RSS of plexus-controller with ${crowd} / its bound`,
    `at most ${maxController} MiB`,
    ({ now }) => ({
      subject: [now],
      baseline: [maxController],
    }),
  ),
  row(
    "controller-rss-large-peak",
    "maximum RSS of plexus-controller in the same run / the same bound",
    "none of its own",
    ({ highest }) => ({
      subject: [highest],
      baseline: [maxController],
    }),
  ),
];
