// The cluster of the crowd test: a directory of manifests or a real API server, with faults.

import { mkdirSync, renameSync, rmSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";

import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { startFaultProxy } from "../lab/kube/fault-proxy.ts";
import { manifestsIn } from "../lab/manifests.ts";
import type { Stage } from "../lab/stage.ts";

/** A fault of one ADD: the pod does not exist yet; the status is refused; requests fail transiently and ADD must still succeed. */
export type ClusterFault = "no pod yet" | "status refused" | "transient failure";

export interface CrowdCluster {
  /** The faults that this cluster can produce. */
  readonly faults: readonly ClusterFault[];
  network(name: string, plugins: readonly object[]): Promise<void>;
  /** Prepares one ADD. The pod is created before its first ADD, or by `recover` if the fault is "no pod yet". */
  adding(name: string, networks: string | undefined, fault: ClusterFault | undefined): Promise<Adding>;
  statusOf(name: string): Promise<unknown>;
  /** Removes the cluster: DEL must work without it. */
  vanish(): Promise<void>;
  dispose(): Promise<void>;
}

export interface Adding {
  /** Members of Plexus' configuration. */
  readonly config: object;
  /** CNI_ARGS. */
  readonly args: string;
  /** Ends the fault. */
  readonly recover: () => Promise<void>;
}

const noop = (): Promise<void> => Promise.resolve();

export function manifestCluster(stage: Stage): CrowdCluster {
  const manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
  const { directory } = manifests;
  const config = { manifests: directory };
  return {
    faults: ["no pod yet", "status refused"],
    network: async (name, plugins) => manifests.network(name, plugins),
    async adding(name, networks, fault) {
      manifests.pod(name, networks);
      const adding = { config, args: manifests.argsOf(name) };
      const manifest = join(directory, `pod-${name}.json`);
      if (fault === "no pod yet") {
        renameSync(manifest, `${manifest}.later`);
        return { ...adding, recover: async () => renameSync(`${manifest}.later`, manifest) };
      }
      if (fault !== "status refused") return { ...adding, recover: noop };
      const status = join(directory, "status", `shop.${name}.json`);
      mkdirSync(status, { recursive: true });
      return { ...adding, recover: async () => rmSync(status, { recursive: true }) };
    },
    statusOf: async (name) => manifests.statusOf(name),
    vanish: async () => rmSync(directory, { recursive: true }),
    dispose: noop,
  };
}

/** A cluster of a real API server. A proxy produces the faults; a call without a fault reaches the server directly. */
export async function apiCluster(stage: Stage): Promise<CrowdCluster> {
  const api = await sharedApiServer();
  api.connect(stage.node);
  const proxy = await startFaultProxy(api);
  const proxied = await proxy.kubeconfig();
  // The long budget avoids failures on a busy machine. A refused status does not use it up.
  const patient = { kubernetes: { budgetMs: 120_000 } };
  const refused = new Set<string>();
  proxy.script(({ method, path, earlier }) => {
    const name = /\/pods\/([^/]+)/u.exec(path)?.[1] ?? "";
    if (method === "PATCH" && refused.has(name))
      return { answer: { status: 403, body: '{"kind":"Status","message":"not now"}' } };
    if (method !== "GET" || earlier > 1) return undefined;
    return earlier === 0 ? { reset: true } : { answer: { status: 503, headers: { "Retry-After": "0" } } };
  });
  const createdPods = new Map<string, string>();
  return {
    faults: ["no pod yet", "status refused", "transient failure"],
    network: (name, plugins) => api.network("shop", name, plugins),
    async adding(name, networks, fault) {
      const createPod = async (): Promise<string> => {
        const existing = createdPods.get(name);
        if (existing !== undefined) return existing;
        const { args } = await api.pod("shop", name, networks);
        createdPods.set(name, args);
        return args;
      };
      if (fault === "no pod yet" && !createdPods.has(name)) {
        const args = `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${name};K8S_POD_UID=${randomUUID()}`;
        return { config: { kubeconfig: api.plexus, ...patient }, args, recover: async () => void (await createPod()) };
      }
      const args = await createPod();
      if (fault === "status refused") refused.add(name);
      // An existing pod cannot be late: another UID asks for a pod that does not exist yet.
      const podArgs = fault === "no pod yet" ? args.replace(/K8S_POD_UID=.*/u, `K8S_POD_UID=${randomUUID()}`) : args;
      const kubeconfig = fault === "status refused" || fault === "transient failure" ? proxied : api.plexus;
      const config = { kubeconfig, ...patient };
      return { config, args: podArgs, recover: async () => void refused.delete(name) };
    },
    statusOf: (name) => api.statusOf("shop", name),
    vanish: () => api.stop(),
    async dispose() {
      await proxy.dispose();
      await api.dispose();
    },
  };
}
