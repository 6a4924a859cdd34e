// A stand-in for the API server of a large cluster: objects in memory, with lists in pages, watches, and writes that it counts. 60,000 pods and their changes are
// more than the memory of a real API server on this machine holds; test/api holds the same parts of Plexus against a real one.

import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";

import { makeAuthority } from "./certificates.ts";
import { writeKubeconfig } from "./kubeconfig.ts";

/** The members of an object that the server reads. */
export interface ServedObject {
  readonly metadata: {
    readonly namespace?: string;
    readonly name: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [member: string]: unknown;
}

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

interface Stored {
  readonly text: string;
  readonly version: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly node: string;
}

interface Watcher {
  readonly response: ServerResponse;
  readonly namespace: string;
  readonly matches: (stored: Stored) => boolean;
}

interface Collection {
  readonly objects: Map<string, Stored>;
  readonly watchers: Set<Watcher>;
  /** The latest changes, for watches that begin at an earlier version. */
  readonly history: Change[];
}

interface Change {
  readonly version: number;
  readonly key: string;
  readonly before: Stored | undefined;
  readonly after: Stored | undefined;
}

const maxHistory = 50_000;
const bookmarkMs = 20_000;
const leases = "/apis/coordination.k8s.io/v1/leases";

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

/** RFC 7396. */
function merged(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

/** `a=b`, `a`, `a in (b,c)`, separated by commas. Throws for other forms. */
function labelMatcher(selector: string | null): (labels: Readonly<Record<string, string>>) => boolean {
  const terms = (selector ?? "").match(/[^,(]+(?:\([^)]*\))?/g) ?? [];
  const tests = terms.map((term) => {
    const [, key = "", values] = /^\s*([\w./-]+)\s+in\s+\(([^)]*)\)$/.exec(term) ?? [];
    if (values !== undefined) {
      const wanted = new Set(values.split(",").map((each) => each.trim()));
      return (labels: Readonly<Record<string, string>>) => wanted.has(labels[key] ?? "\n");
    }
    const [, name = "", value] = /^\s*([\w./-]+)(?:=+([\w.-]*))?$/.exec(term) ?? [];
    if (name === "") throw new Error(`the selector ${term} is none of those that the server knows`);
    return (labels: Readonly<Record<string, string>>) => (value === undefined ? name in labels : labels[name] === value);
  });
  return (labels) => tests.every((each) => each(labels));
}

function nodeMatcher(selector: string | null): (node: string) => boolean {
  const wanted = /(?:^|,)spec\.nodeName=([\w.-]+)/.exec(selector ?? "")?.[1];
  return (node) => wanted === undefined || node === wanted;
}

const empty = (): Collection => ({ objects: new Map(), watchers: new Set(), history: [] });

const send = (watcher: Watcher, { key, before, after }: Change): void => {
  if (watcher.namespace !== "" && !key.startsWith(`${watcher.namespace}/`)) return;
  const [had, has] = [before, after].map((each) => each !== undefined && watcher.matches(each));
  const text = after?.text ?? before?.text;
  if (had !== true && has !== true) return;
  const type = has === true ? (had === true ? "MODIFIED" : "ADDED") : "DELETED";
  watcher.response.write(`{"type":"${type}","object":${text}}\n`);
};

const parsed = (stored: Stored | undefined): ServedObject | undefined =>
  stored === undefined ? undefined : (JSON.parse(stored.text) as ServedObject);

/** Starts the server with these collections, by their paths for all namespaces. The directory gets certificates and the kubeconfig. */
export async function startObjectServer(directory: string, collections: readonly string[]): Promise<ObjectServer> {
  const authority = makeAuthority(join(directory, "pki"), "stand-in authority");
  const pair = authority.issue("server", { commonName: "stand-in", alternativeNames: ["IP:127.0.0.1"] });
  const served = new Map([...collections, leases].map((path) => [path, empty()]));
  const writes: ServedWrite[] = [];
  /** The keys of lists under way, by their continue tokens. */
  const lists = new Map<string, readonly string[]>();
  let version = 1;
  let tokens = 0;

  const collectionAt = (path: string): Collection => {
    const collection = served.get(path);
    if (collection === undefined) throw new Error(`the server has no collection ${path}`);
    return collection;
  };
  const store = (collection: Collection, key: string, object: ServedObject | undefined): ServedObject | undefined => {
    version += 1;
    const before = collection.objects.get(key);
    const uid = object?.metadata.uid ?? `uid-${version}`;
    const made: ServedObject | undefined = object && {
      ...object,
      metadata: { ...object.metadata, uid, resourceVersion: String(version) },
    };
    const spec = made?.["spec"];
    const node = isObject(spec) && typeof spec["nodeName"] === "string" ? spec["nodeName"] : "";
    const after = made && { text: JSON.stringify(made), version, labels: made.metadata.labels ?? {}, node };
    if (after === undefined) collection.objects.delete(key);
    else collection.objects.set(key, after);
    const change = { version, key, before, after };
    collection.history.push(change);
    if (collection.history.length > 2 * maxHistory) collection.history.splice(0, maxHistory);
    for (const watcher of collection.watchers) send(watcher, change);
    return made;
  };

  const list = (
    collection: Collection,
    namespace: string,
    query: URLSearchParams,
    matches: (stored: Stored) => boolean,
  ): string => {
    const { objects } = collection;
    const [token = "", from = "0"] = (query.get("continue") ?? "").split(".");
    const keys =
      lists.get(token) ??
      [...objects].flatMap(([key, stored]) =>
        (namespace === "" || key.startsWith(`${namespace}/`)) && matches(stored) ? [key] : [],
      );
    const [begin, limit] = [Number(from), Number(query.get("limit") ?? 0)];
    const end = limit === 0 ? keys.length : Math.min(keys.length, begin + limit);
    let more = "";
    if (end < keys.length) {
      const own = token === "" ? `t${(tokens += 1)}` : token;
      lists.set(own, keys);
      more = `,"continue":"${own}.${end}"`;
    } else lists.delete(token);
    const items = keys.slice(begin, end).flatMap((key) => objects.get(key)?.text ?? []);
    return `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"${version}"${more}},"items":[${items.join(",")}]}`;
  };
  const watch = (collection: Collection, watcher: Watcher, from: number): void => {
    const { response } = watcher;
    response.flushHeaders();
    for (const change of collection.history) if (change.version > from) send(watcher, change);
    collection.watchers.add(watcher);
    const bookmark = setInterval(() => {
      const metadata = { resourceVersion: String(version), creationTimestamp: null };
      response.write(`${JSON.stringify({ type: "BOOKMARK", object: { kind: "Bookmark", apiVersion: "v1", metadata } })}\n`);
    }, bookmarkMs);
    response.on("close", () => {
      clearInterval(bookmark);
      collection.watchers.delete(watcher);
    });
  };
  const write = (method: string, collection: Collection, key: string, body: unknown): [number, ServedObject | undefined] => {
    const before = collection.objects.get(key);
    const sent = isObject(body) && isObject(body["metadata"]) ? body["metadata"] : {};
    if (method === "POST") {
      const object = body as ServedObject;
      const created = `${object.metadata.namespace ?? key.slice(0, key.indexOf("/"))}/${object.metadata.name}`;
      return collection.objects.has(created) ? [409, undefined] : [201, store(collection, created, object)];
    }
    if (before === undefined) return [404, undefined];
    const expected = sent["resourceVersion"];
    if (method !== "DELETE" && expected !== undefined && expected !== String(before.version)) return [409, undefined];
    const earlier = parsed(before);
    if (method === "DELETE") {
      store(collection, key, undefined);
      return [200, earlier];
    }
    const after = method === "PATCH" ? merged(earlier, body) : body;
    return [200, store(collection, key, after as ServedObject)];
  };
  const answer = (request: IncomingMessage, response: ServerResponse, text: string): void => {
    const { pathname, searchParams } = new URL(request.url ?? "", "https://stand-in");
    const status = (code: number): void =>
      void response.writeHead(code).end(JSON.stringify({ kind: "Status", apiVersion: "v1", code, message: `${code}` }));
    const form = /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+))?\/([a-z-]+)(?:\/([^/]+))?(?:\/status)?$/;
    const [, prefix = "", namespace = "", resource = "", name = ""] = form.exec(pathname) ?? [];
    const path = `${prefix}/${resource}`;
    const method = request.method ?? "GET";
    if (resource === "events") return void response.writeHead(201).end(text);
    const collection = served.get(path);
    if (collection === undefined) return status(404);
    const key = `${namespace}/${name}`;
    if (method !== "GET") {
      if (path !== leases) writes.push({ method, path: pathname });
      const [code, object] = write(method, collection, key, text === "" ? {} : JSON.parse(text));
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
      return watch(collection, { response, namespace, matches }, Number(searchParams.get("resourceVersion") ?? 0));
    return void response.end(list(collection, namespace, searchParams, matches));
  };
  const server = createServer({ cert: readFileSync(pair.certificate), key: readFileSync(pair.key) }, (request, response) => {
    response.setHeader("Content-Type", "application/json");
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      try {
        answer(request, response, Buffer.concat(chunks).toString("utf8"));
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
      store(collectionAt(path), `${object.metadata.namespace ?? ""}/${object.metadata.name}`, object);
    },
    change(path, key, patch) {
      const before = parsed(collectionAt(path).objects.get(key));
      if (before === undefined) throw new Error(`${path} has no object ${key}`);
      store(collectionAt(path), key, merged(before, patch) as ServedObject);
    },
    get: (path, key) => parsed(collectionAt(path).objects.get(key)),
    all: (path) => [...collectionAt(path).objects.values()].flatMap((each) => parsed(each) ?? []),
    watches: (path) => collectionAt(path).watchers.size,
    async dispose() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
