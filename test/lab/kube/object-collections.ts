// The collections of the stand-in for the API server: objects in memory, lists in pages, watches, and writes.

import type { ServerResponse } from "node:http";

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

/** An object of a collection. */
export interface Stored {
  readonly text: string;
  readonly version: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly node: string;
}

/** A client that watches. */
export interface Watcher {
  readonly response: ServerResponse;
  readonly namespace: string;
  readonly matches: (stored: Stored) => boolean;
}

/** The objects of one path. */
export interface Collection {
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
export function labelMatcher(selector: string | null): (labels: Readonly<Record<string, string>>) => boolean {
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

/** The field selector `spec.nodeName=NODE`; any other selects all nodes. */
export function nodeMatcher(selector: string | null): (node: string) => boolean {
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

/** All collections of one server, which share a version. */
export class ObjectCollections {
  readonly #collections: ReadonlyMap<string, Collection>;
  /** The keys of lists under way, by their continue tokens. */
  readonly #lists = new Map<string, readonly string[]>();
  #version = 1;
  #tokens = 0;

  /** `paths`: the collections' paths for all namespaces. */
  constructor(paths: readonly string[]) {
    this.#collections = new Map(paths.map((path) => [path, empty()]));
  }

  find(path: string): Collection | undefined {
    return this.#collections.get(path);
  }

  /** The collection of this path. Throws if there is none. */
  at(path: string): Collection {
    const collection = this.find(path);
    if (collection === undefined) throw new Error(`the server has no collection ${path}`);
    return collection;
  }

  /** Creates, replaces or removes (undefined) an object, and tells those who watch. */
  store(collection: Collection, key: string, object: ServedObject | undefined): ServedObject | undefined {
    this.#version += 1;
    const version = this.#version;
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
  }

  /** One page of a list, as JSON. */
  list(collection: Collection, namespace: string, query: URLSearchParams, matches: (stored: Stored) => boolean): string {
    const { objects } = collection;
    const [token = "", from = "0"] = (query.get("continue") ?? "").split(".");
    const keys =
      this.#lists.get(token) ??
      [...objects].flatMap(([key, stored]) =>
        (namespace === "" || key.startsWith(`${namespace}/`)) && matches(stored) ? [key] : [],
      );
    const [begin, limit] = [Number(from), Number(query.get("limit") ?? 0)];
    const end = limit === 0 ? keys.length : Math.min(keys.length, begin + limit);
    let more = "";
    if (end < keys.length) {
      const own = token === "" ? `t${(this.#tokens += 1)}` : token;
      this.#lists.set(own, keys);
      more = `,"continue":"${own}.${end}"`;
    } else this.#lists.delete(token);
    const items = keys.slice(begin, end).flatMap((key) => objects.get(key)?.text ?? []);
    const metadata = `{"resourceVersion":"${this.#version}"${more}}`;
    return `{"kind":"List","apiVersion":"v1","metadata":${metadata},"items":[${items.join(",")}]}`;
  }

  /** Sends the changes since a version, and those that follow until the client closes. */
  watch(collection: Collection, watcher: Watcher, from: number): void {
    const { response } = watcher;
    response.flushHeaders();
    for (const change of collection.history) if (change.version > from) send(watcher, change);
    collection.watchers.add(watcher);
    const bookmark = setInterval(() => {
      const metadata = { resourceVersion: String(this.#version), creationTimestamp: null };
      response.write(`${JSON.stringify({ type: "BOOKMARK", object: { kind: "Bookmark", apiVersion: "v1", metadata } })}\n`);
    }, bookmarkMs);
    response.on("close", () => {
      clearInterval(bookmark);
      collection.watchers.delete(watcher);
    });
  }

  /** A write of a client: the status, and the object that the client gets. */
  write(method: string, collection: Collection, key: string, body: unknown): [number, ServedObject | undefined] {
    const before = collection.objects.get(key);
    const sent = isObject(body) && isObject(body["metadata"]) ? body["metadata"] : {};
    if (method === "POST") {
      const object = body as ServedObject;
      const created = `${object.metadata.namespace ?? key.slice(0, key.indexOf("/"))}/${object.metadata.name}`;
      return collection.objects.has(created) ? [409, undefined] : [201, this.store(collection, created, object)];
    }
    if (before === undefined) return [404, undefined];
    const expected = sent["resourceVersion"];
    if (method !== "DELETE" && expected !== undefined && expected !== String(before.version)) return [409, undefined];
    const earlier = parsed(before);
    if (method === "DELETE") {
      this.store(collection, key, undefined);
      return [200, earlier];
    }
    const after = method === "PATCH" ? merged(earlier, body) : body;
    return [200, this.store(collection, key, after as ServedObject)];
  }

  /** Merges a change into an object. Throws if there is none. */
  change(path: string, key: string, patch: object): void {
    const collection = this.at(path);
    const before = parsed(collection.objects.get(key));
    if (before === undefined) throw new Error(`${path} has no object ${key}`);
    this.store(collection, key, merged(before, patch) as ServedObject);
  }

  get(path: string, key: string): ServedObject | undefined {
    return parsed(this.at(path).objects.get(key));
  }

  all(path: string): readonly ServedObject[] {
    return [...this.at(path).objects.values()].flatMap((each) => parsed(each) ?? []);
  }
}
