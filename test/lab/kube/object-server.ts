// A stand-in for the API server of a large cluster: objects in memory, with lists in pages, watches, and writes that it counts. 60,000 pods and their changes are
// more than the memory of a real API server on this machine holds; test/api holds the same parts of Plexus against a real one.

import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";

import { makeAuthority } from "./certificates.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import { labelMatcher, nodeMatcher, ObjectCollections, type ServedObject, type Stored } from "./object-collections.ts";

const leases = "/apis/coordination.k8s.io/v1/leases";

/** A write of a client. */
export interface ServedWrite {
  readonly method: string;
  readonly path: string;
}

/** The server. */
export interface ObjectServer {
  readonly kubeconfig: string;
  /** The writes of clients in collections of the server, without Leases. */
  readonly writes: ServedWrite[];
  /** Creates the object, or puts it in place of an earlier version. `collection`: the path for all namespaces. */
  put(collection: string, object: ServedObject): void;
  /** Merges a change into an object. */
  change(collection: string, key: string, patch: object): void;
  /** An object by `NAMESPACE/NAME`, or by `/NAME`. */
  get(collection: string, key: string): ServedObject | undefined;
  all(collection: string): readonly ServedObject[];
  /** The number of open watches of a collection. */
  watches(collection: string): number;
  dispose(): Promise<void>;
}

/** Answers one request. `writes` gets the writes of clients. */
function answer(
  collections: ObjectCollections,
  writes: ServedWrite[],
  { url, method = "GET" }: IncomingMessage,
  response: ServerResponse,
  text: string,
): void {
  const { pathname, searchParams } = new URL(url ?? "", "https://stand-in");
  const status = (code: number): void =>
    void response.writeHead(code).end(JSON.stringify({ kind: "Status", apiVersion: "v1", code, message: `${code}` }));
  const form = /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+))?\/([a-z-]+)(?:\/([^/]+))?(?:\/status)?$/;
  const [, prefix = "", namespace = "", resource = "", name = ""] = form.exec(pathname) ?? [];
  const path = `${prefix}/${resource}`;
  if (resource === "events") return void response.writeHead(201).end(text);
  const collection = collections.find(path);
  if (collection === undefined) return status(404);
  const key = `${namespace}/${name}`;
  if (method !== "GET") {
    if (path !== leases) writes.push({ method, path: pathname });
    const [code, object] = collections.write(method, collection, key, text === "" ? {} : JSON.parse(text));
    return object === undefined ? status(code) : void response.writeHead(code).end(JSON.stringify(object));
  }
  if (name !== "") {
    const found = collection.objects.get(key);
    return found === undefined ? status(404) : void response.end(found.text);
  }
  const labels = labelMatcher(searchParams.get("labelSelector"));
  const node = nodeMatcher(searchParams.get("fieldSelector"));
  const matches = (stored: Stored): boolean => labels(stored.labels) && node(stored.node);
  if (searchParams.has("watch"))
    return collections.watch(collection, { response, namespace, matches }, Number(searchParams.get("resourceVersion") ?? 0));
  return void response.end(collections.list(collection, namespace, searchParams, matches));
}

/** Starts the server with these collections, by their paths for all namespaces. The directory gets certificates and the kubeconfig. */
export async function startObjectServer(directory: string, paths: readonly string[]): Promise<ObjectServer> {
  const authority = makeAuthority(join(directory, "pki"), "stand-in authority");
  const pair = authority.issue("server", { commonName: "stand-in", alternativeNames: ["IP:127.0.0.1"] });
  const collections = new ObjectCollections([...paths, leases]);
  const writes: ServedWrite[] = [];
  const server = createServer({ cert: readFileSync(pair.certificate), key: readFileSync(pair.key) }, (request, response) => {
    response.setHeader("Content-Type", "application/json");
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      try {
        answer(collections, writes, request, response, Buffer.concat(chunks).toString("utf8"));
      } catch (error) {
        response.writeHead(400).end(JSON.stringify({ kind: "Status", code: 400, message: String(error) }));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = `https://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  return {
    kubeconfig: writeKubeconfig(directory, { url, authority }, "plexus", [], { user: { token: "stand-in" } }),
    writes,
    put(path, object) {
      collections.store(collections.at(path), `${object.metadata.namespace ?? ""}/${object.metadata.name}`, object);
    },
    change: (path, key, patch) => collections.change(path, key, patch),
    get: (path, key) => collections.get(path, key),
    all: (path) => collections.all(path),
    watches: (path) => collections.at(path).watchers.size,
    async dispose() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
