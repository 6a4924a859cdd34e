// A stand-in for the API server of a large cluster. It makes pods and definitions only when they are listed, so that 60,000
// pods need no memory. It serves the lists and watches that Plexus requests; test/api compares these with a real server.

import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";

import { makeAuthority } from "../test/lab/kube/certificates.ts";
import { writeKubeconfig } from "../test/lab/kube/kubeconfig.ts";

export interface StandInInit {
  /** The directory of certificates and the kubeconfig. */
  readonly directory: string;
  readonly nodes: number;
  readonly podsPerNode: number;
  readonly definitions: number;
}

export interface StandInPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface StandInApi {
  readonly kubeconfig: string;
  /** Requests so far: `GET /path?query`. */
  readonly seen: readonly string[];
  /** The number of objects in the lists sent so far. */
  readonly sent: { readonly pods: number; readonly definitions: number };
  nodeName(node: number): string;
  pod(node: number, index: number): StandInPod;
  /** Collections with an open watch. */
  watched(): ReadonlySet<string>;
  /** Sends every watcher of definitions this number of MODIFIED events. */
  change(count: number): void;
  dispose(): Promise<void>;
}

const podsPath = "/api/v1/pods";
const definitionsPath = "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions";

/** The managedFields of objects from kubectl apply: longer than the object, and unused by Plexus. */
function managedFields(paths: number): readonly object[] {
  const fields = Object.fromEntries(Array.from({ length: paths }, (_, index) => [`f:field-${index}`, { "f:value": {} }]));
  return [
    {
      manager: "kubectl-client-side-apply",
      operation: "Update",
      apiVersion: "v1",
      time: "2026-11-21T00:00:00Z",
      fieldsV1: fields,
    },
  ];
}

const nodeName = (node: number): string => `node-${String(node).padStart(5, "0")}`;

const pod = (node: number, index: number): StandInPod => ({
  namespace: `team-${index % 40}`,
  name: `app-${node}-${index}`,
  uid: `00000000-0000-4000-8000-${String(node * 1000 + index).padStart(12, "0")}`,
});

/** The node whose pods the request selects. Throws if a request selects the pods of all nodes. */
const nodeOf = (query: URLSearchParams): number => {
  const selector = /^spec\.nodeName=node-(\d+)$/.exec(query.get("fieldSelector") ?? "");
  if (selector === null) throw new Error("the client requested pods of other nodes");
  return Number(selector[1]);
};

/** The objects of the cluster, each made when a client asks for it. */
class StandInObjects {
  /** The number of objects in the lists sent so far. */
  readonly sent = { pods: 0, definitions: 0 };
  readonly #init: StandInInit;
  #version = 1_000_000;

  constructor(init: StandInInit) {
    this.#init = init;
  }

  /** A list, or a page of it. Throws if the request selects the pods of all nodes. */
  list(path: string, query: URLSearchParams): object {
    const metadata = { resourceVersion: String(this.#version) };
    if (path === podsPath) {
      const node = nodeOf(query);
      const count = node < this.#init.nodes ? this.#init.podsPerNode : 0;
      this.sent.pods += count;
      const items = Array.from({ length: count }, (_, index) => this.#podObject(node, index));
      return { kind: "PartialObjectMetadataList", metadata, items };
    }
    const { definitions } = this.#init;
    const from = Number(query.get("continue") ?? 0);
    const to = Math.min(definitions, from + Number(query.get("limit") ?? definitions));
    const items = Array.from({ length: to - from }, (_, index) => this.#definitionObject(from + index));
    this.sent.definitions += items.length;
    return { kind: "List", metadata: { ...metadata, ...(to < definitions ? { continue: String(to) } : {}) }, items };
  }

  /** A single object; undefined for another path. */
  get(path: string): object | undefined {
    const [, node, index] = /\/pods\/app-(\d+)-(\d+)$/.exec(path) ?? [];
    if (node !== undefined) return this.#podObject(Number(node), Number(index));
    const [, definition] = /\/network-attachment-definitions\/net-(\d+)$/.exec(path) ?? [];
    return definition === undefined ? undefined : this.#definitionObject(Number(definition));
  }

  /** Changes a definition, and answers the line of its event. */
  change(): string {
    this.#version += 1;
    const object = this.#definitionObject(this.#version % this.#init.definitions);
    return `${JSON.stringify({ type: "MODIFIED", object })}\n`;
  }

  #podObject(node: number, index: number): object {
    const { definitions } = this.#init;
    const annotations = {
      "k8s.v1.cni.cncf.io/networks": [0, 1].map((n) => `nets/net-${(node * 7 + index * 3 + n) % definitions}`).join(","),
      "k8s.v1.cni.cncf.io/network-status": JSON.stringify(Array.from({ length: 3 }, () => ({ name: "x".repeat(200) }))),
      "kubectl.kubernetes.io/last-applied-configuration": "x".repeat(2_000),
    };
    const resourceVersion = String(this.#version);
    const metadata = { ...pod(node, index), resourceVersion, annotations, managedFields: managedFields(40) };
    return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata };
  }

  #definitionObject(index: number): object {
    const name = `net-${index}`;
    const ipam = { type: "ipam-host-local", subnet: `10.${(index >> 8) & 255}.${index & 255}.0/24` };
    const plugins = [{ type: "ipam-host-local", ipam, note: "x".repeat(500) }];
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "x".repeat(1_000) };
    const resourceVersion = String(this.#version);
    return {
      kind: "NetworkAttachmentDefinition",
      apiVersion: "k8s.cni.cncf.io/v1",
      metadata: { namespace: "nets", name, resourceVersion, annotations, managedFields: managedFields(20) },
      spec: { config: JSON.stringify({ cniVersion: "1.0.0", name, plugins }) },
    };
  }
}

/** Starts the stand-in. */
export async function startStandIn(init: StandInInit): Promise<StandInApi> {
  const { directory } = init;
  const objects = new StandInObjects(init);
  const authority = makeAuthority(join(directory, "pki"), "stand-in authority");
  const serverPair = authority.issue("server", { commonName: "stand-in", alternativeNames: ["IP:127.0.0.1"] });
  const seen: string[] = [];
  const watchers = new Map<ServerResponse, string>();

  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const { pathname, searchParams } = new URL(request.url ?? "", "https://stand-in");
    request.resume();
    response.setHeader("Content-Type", "application/json");
    if (request.method !== "GET") return void response.end("{}");
    const single = objects.get(pathname);
    if (single !== undefined) return void response.end(JSON.stringify(single));
    if (pathname !== podsPath && pathname !== definitionsPath) {
      return void response.writeHead(404).end(JSON.stringify({ kind: "Status", code: 404, message: "not found" }));
    }
    if (!searchParams.has("watch")) return void response.end(JSON.stringify(objects.list(pathname, searchParams)));
    if (pathname === podsPath) nodeOf(searchParams);
    watchers.set(response, pathname);
    response.on("close", () => watchers.delete(response));
    response.flushHeaders();
  };

  const server = createServer(
    { cert: readFileSync(serverPair.certificate), key: readFileSync(serverPair.key) },
    (request, response) => {
      seen.push(`${request.method} ${request.url}`);
      try {
        serve(request, response);
      } catch (error) {
        response.writeHead(400).end(String(error));
      }
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = `https://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  return {
    kubeconfig: writeKubeconfig(directory, { url, authority }, "plexus", [], { user: { token: "stand-in" } }),
    seen,
    sent: objects.sent,
    nodeName,
    pod,
    watched: () => new Set(watchers.values()),
    change(count) {
      for (let changed = 0; changed < count; changed++) {
        const line = objects.change();
        for (const [watcher, path] of watchers) if (path === definitionsPath) watcher.write(line);
      }
    },
    async dispose() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
