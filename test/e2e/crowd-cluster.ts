// Where the crowd's pods and networks are described: a directory of manifests, or a real API server, with what can go wrong there.

import { mkdirSync, renameSync, rmSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";

import { startApiServer } from "../harness/kube/api-server.ts";
import { startFaultProxy } from "../harness/kube/fault-proxy.ts";
import { manifestsIn } from "./manifests.ts";
import type { Stage } from "./stage.ts";

/** A fault of one ADD: its pod isn't there yet; the status can't be written; or something passes by itself, and nothing may fail. */
export type ClusterFault = "no pod yet" | "status refused" | "hiccup";

export interface CrowdCluster {
  /** Faults of which it is capable. */
  readonly faults: readonly ClusterFault[];
  network(name: string, plugins: readonly object[]): Promise<void>;
  /** What one ADD of the pod is configured with; the pod is made with its first one, or after it where it comes too late. */
  adding(name: string, networks: string | undefined, fault: ClusterFault | undefined): Promise<Adding>;
  statusOf(name: string): Promise<unknown>;
  /** From now on it answers nobody: DEL has to do without. */
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

const nothingToDo = (): Promise<void> => Promise.resolve();

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
      if (fault !== "status refused") return { ...adding, recover: nothingToDo };
      const status = join(directory, "status", `shop.${name}.json`);
      mkdirSync(status, { recursive: true });
      return { ...adding, recover: async () => rmSync(status, { recursive: true }) };
    },
    statusOf: async (name) => manifests.statusOf(name),
    vanish: async () => rmSync(directory, { recursive: true }),
    dispose: nothingToDo,
  };
}

/** Faults come from a proxy; a call without one asks the server itself. */
export async function apiCluster(stage: Stage): Promise<CrowdCluster> {
  const api = await startApiServer();
  api.connect(stage.node);
  const proxy = await startFaultProxy(api);
  const proxied = await proxy.kubeconfig();
  // A busy machine is not what is looked for; what is to fail shall do so soon.
  const patient = { kubernetes: { budgetMs: 120_000 } };
  const impatient = { kubernetes: { budgetMs: 4000 } };
  const refused = new Set<string>();
  proxy.script(({ method, path, earlier }) => {
    const name = /\/pods\/([^/]+)/u.exec(path)?.[1] ?? "";
    if (method === "PATCH" && refused.has(name))
      return { answer: { status: 403, body: '{"kind":"Status","message":"not now"}' } };
    if (method !== "GET" || earlier > 1) return undefined;
    return earlier === 0 ? { reset: true } : { answer: { status: 503, headers: { "Retry-After": "0" } } };
  });
  const made = new Map<string, string>();
  return {
    faults: ["no pod yet", "status refused", "hiccup"],
    network: (name, plugins) => api.network("shop", name, plugins),
    async adding(name, networks, fault) {
      const make = async (): Promise<string> => {
        const known = made.get(name);
        if (known !== undefined) return known;
        const { args } = await api.pod("shop", name, networks);
        made.set(name, args);
        return args;
      };
      if (fault === "no pod yet" && !made.has(name)) {
        const args = `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${name};K8S_POD_UID=${randomUUID()}`;
        return { config: { kubeconfig: api.plexus, ...patient }, args, recover: async () => void (await make()) };
      }
      const args = await make();
      if (fault === "status refused") refused.add(name);
      // A pod that is there already can't be late: another one is meant.
      const late = fault === "no pod yet" ? args.replace(/K8S_POD_UID=.*/u, `K8S_POD_UID=${randomUUID()}`) : args;
      const kubeconfig = fault === "status refused" || fault === "hiccup" ? proxied : api.plexus;
      const config = { kubeconfig, ...(fault === "status refused" ? impatient : patient) };
      return { config, args: late, recover: async () => void refused.delete(name) };
    },
    statusOf: (name) => api.statusOf("shop", name),
    vanish: () => api.stop(),
    async dispose() {
      await proxy.dispose();
      await api.dispose();
    },
  };
}
