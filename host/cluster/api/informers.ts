// A daemon's in-memory copy of cluster objects: the pods of its node, all NetworkAttachmentDefinitions, and the
// objects of features once a call looked for one.

import { ok, type Result } from "../../../src/fault/result.ts";
import type { NetworkAttachmentDefinition } from "../../../src/npwg/network-attachment-definition.ts";
import { checkPodUid, type Pod } from "../../../src/npwg/pod.ts";
import type { Cluster } from "../cluster.ts";
import type { Connection } from "../kube/connection.ts";
import type { Credentials, CredentialSource } from "../kube/credentials.ts";
import type { ObjectSource, WatchedObjects } from "../object-source.ts";
import type { StoredObject } from "../kube/object-store.ts";
import { Reflector, type ReflectorInit, type ReflectorState } from "../kube/reflector.ts";
import { storedDefinition, storedPod } from "../kube/stored-objects.ts";

/** Settings of the informers. */
export interface InformersInit {
  readonly connection: Connection;
  readonly credentials: CredentialSource;
  /** The node's name in the API; undefined: its pods are not watched. */
  readonly nodeName: string | undefined;
  /** Whether the watches continue without any lookup. */
  readonly keep: boolean;
  readonly warn: (text: string) => void;
  /** Called for each pod that was listed, created, changed or removed; `pod` is undefined if the pod is gone or cannot be held. */
  readonly onPod?: ((namespace: string, name: string, pod: Pod | undefined) => void) | undefined;
}

/** A kubelet runs 110 pods, or up to 500 with small annotations; further pods are read from the API. */
const podBounds = { maxObject: 64 * 1024, maxTotal: 8 * 1024 * 1024 };
/** 2,000 definitions of 1 KB take 2.4 MB here. */
const definitionBounds = { maxObject: 64 * 1024, maxTotal: 16 * 1024 * 1024 };

/** Number of the runtime's pods that the store may lack before its first pod. Above it the node's name is probably wrong. */
const missingPodsUntilWarning = 5;

const connectMs = 10_000;

/** The watches end after an hour without any lookup. */
const idleMs = 3_600_000;

/** Number of lookups since the start. */
export interface LookupCounts {
  /** `held`: answered from memory; `asked`: sent to the server. */
  readonly held: number;
  readonly asked: number;
}

/** A value for each watched collection; undefined for one that is not watched. */
export interface Watched<T> {
  readonly pods: T;
  readonly definitions: T;
  /** The objects of features. */
  readonly networks: T;
}

type Collection<T> = Omit<ReflectorInit<T>, "connection" | "credentials" | "warn">;

function podsOf(nodeName: string): Collection<Pod> {
  return {
    what: `pods of node ${nodeName}`,
    path: "/api/v1/pods",
    query: { fieldSelector: `spec.nodeName=${nodeName}` },
    metadataOnly: true,
    consistent: false,
    bounds: podBounds,
    read: storedPod,
  };
}

const allDefinitions: Collection<NetworkAttachmentDefinition> = {
  what: "NetworkAttachmentDefinitions",
  path: "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions",
  query: {},
  metadataOnly: false,
  consistent: true,
  bounds: definitionBounds,
  read: storedDefinition,
};

interface Running {
  credentials: Credentials;
  readonly pods: Reflector<Pod> | undefined;
  readonly definitions: Reflector<NetworkAttachmentDefinition>;
  /** A copy for each source that a call has named. */
  readonly ofFeatures: Map<object, Promise<WatchedObjects<unknown>>>;
  /** The copies that are made. */
  readonly copies: WatchedObjects<unknown>[];
}

/** Holds pods and definitions in memory, and answers lookups from them. */
export class Informers {
  readonly #init: InformersInit;
  #running: Running | undefined;
  #unused: NodeJS.Timeout | undefined;
  readonly #pods = { held: 0, asked: 0 };
  readonly #definitions = { held: 0, asked: 0 };
  readonly #networks = { held: 0, asked: 0 };
  #podsHeld = 0;
  #missingPods = 0;

  constructor(init: InformersInit) {
    this.#init = init;
  }

  get counts(): Watched<LookupCounts> {
    return { pods: { ...this.#pods }, definitions: { ...this.#definitions }, networks: { ...this.#networks } };
  }

  /** The states of each collection's watches. */
  get states(): Watched<readonly ReflectorState[]> {
    const { pods, definitions, copies = [] } = this.#running ?? {};
    return {
      pods: pods === undefined ? [] : [pods.state],
      definitions: definitions === undefined ? [] : [definitions.state],
      networks: copies.flatMap(({ states }) => states),
    };
  }

  /**
   * Starts the watches, or continues them; false if the credentials cannot be read. If the credentials lead to another server,
   * the old server's objects are dropped.
   */
  async begin(): Promise<boolean> {
    const current = await this.#init.credentials();
    // The next request to the server reports the problem.
    if (!current.ok) return false;
    this.#unused?.refresh();
    if (this.#running !== undefined && isSameCluster(this.#running.credentials, current.value)) {
      this.#useCredentials(this.#running, current.value);
      return true;
    }
    this.stop();
    const { connection, credentials, nodeName, warn, onPod } = this.#init;
    const onChange = (namespace: string, name: string): void =>
      onPod?.(namespace, name, this.#running?.pods?.lastSeen(namespace, name));
    const shared = { connection, credentials, warn };
    const running: Running = {
      credentials: current.value,
      pods:
        nodeName === undefined
          ? undefined
          : new Reflector<Pod>({
              ...shared,
              ...podsOf(nodeName),
              onNew: (pod) => void this.#connect(pod),
              ...(onPod === undefined ? {} : { onChange }),
            }),
      definitions: new Reflector<NetworkAttachmentDefinition>({ ...shared, ...allDefinitions }),
      ofFeatures: new Map(),
      copies: [],
    };
    this.#running = running;
    if (!this.#init.keep) this.#unused = setTimeout(() => this.stop(), idleMs).unref();
    running.pods?.start();
    running.definitions.start();
    return true;
  }

  /** Objects read with other credentials are not served until a watch with the current credentials is accepted. */
  #useCredentials(running: Running, current: Credentials): void {
    if (running.credentials === current) return;
    running.credentials = current;
    running.pods?.renew();
    running.definitions.renew();
    for (const copy of running.copies) copy.renew();
  }

  stop(): void {
    clearTimeout(this.#unused);
    this.#unused = undefined;
    this.#running?.pods?.stop();
    this.#running?.definitions.stop();
    for (const copy of this.#running?.copies ?? []) copy.stop();
    this.#running = undefined;
    this.#podsHeld = 0;
    this.#missingPods = 0;
  }

  /**
   * `cluster`, with held objects answered from memory. Everything else is still read through `cluster`, so an object is never
   * missing by mistake.
   */
  over(cluster: Cluster): Cluster {
    const { objects } = cluster;
    return {
      ...cluster,
      ...(objects === undefined ? {} : { objects: (source) => this.#objects(source, objects) }),
      pod: async (namespace, name, expected) => {
        const known = this.#pod(namespace, name, expected?.uid);
        count(this.#pods, known !== undefined);
        if (known !== undefined) {
          this.#podsHeld += 1;
          return ok(known);
        }
        const { pods } = this.#running ?? {};
        const absent = pods?.live === true && pods.get(namespace, name) === undefined;
        const found = await cluster.pod(namespace, name, expected);
        if (absent && found.ok && (expected?.uid ?? "") !== "") this.#countMissingPod();
        return found;
      },
      networkAttachmentDefinition: async (namespace, name): Promise<Result<NetworkAttachmentDefinition>> => {
        const known = this.#running?.definitions.get(namespace, name);
        count(this.#definitions, known !== undefined);
        return known === undefined ? cluster.networkAttachmentDefinition(namespace, name) : ok(known);
      },
    };
  }

  /** A feature's objects from memory; while nothing is watched, as the call reads them. */
  async #objects<T>(source: ObjectSource<T>, objects: NonNullable<Cluster["objects"]>): Promise<T> {
    const direct = await objects(source);
    const running = this.#running;
    if (running === undefined) return direct;
    const made = running.ofFeatures.get(source) ?? this.#copy(running, source);
    running.ofFeatures.set(source, made);
    // The next look tries again.
    made.catch(() => running.ofFeatures.delete(source));
    // The map has each copy under the source that made it.
    return ((await made) as WatchedObjects<T>).over(direct);
  }

  async #copy<T>(running: Running, source: ObjectSource<T>): Promise<WatchedObjects<T>> {
    const { connection, credentials, warn } = this.#init;
    const copy = await source.watch({ connection, credentials, warn }, (held) => count(this.#networks, held));
    // The watches may have stopped meanwhile: a stopped copy lets each look go to the API.
    if (this.#running === running) running.copies.push(copy as WatchedObjects<unknown>);
    else copy.stop();
    return copy;
  }

  /** Answers only the pod with the runtime's uid: another pod may have taken the name. */
  #pod(namespace: string, name: string, uid: string | undefined): Pod | undefined {
    if (uid === undefined || uid === "") return undefined;
    const known = this.#running?.pods?.get(namespace, name);
    if (known?.uid === undefined) return undefined;
    const same = checkPodUid(known, uid);
    return same.ok ? same.value : undefined;
  }

  /**
   * A pod that is new on the node will be attached in a moment. If the server has closed the idle connections, a request for the
   * pod opens one, so that the call finds it open.
   */
  async #connect({ namespace, name }: StoredObject<Pod>): Promise<void> {
    const { connection, credentials } = this.#init;
    const current = await credentials();
    if (!current.ok || connection.isReady(current.value)) return;
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    await connection.request(current.value, { method: "GET", path, metadataOnly: true }, connectMs);
  }

  #countMissingPod(): void {
    if (this.#podsHeld > 0 || ++this.#missingPods !== missingPodsUntilWarning) return;
    this.#init.warn(
      `the API lists none of ${missingPodsUntilWarning} pods that the runtime attached here for node ` +
        `"${this.#init.nodeName}": if the node has another name there, set it with --node-name; until then each ADD reads its pod from the API`,
    );
  }
}

function count(counts: { held: number; asked: number }, held: boolean): void {
  counts[held ? "held" : "asked"] += 1;
}

function isSameCluster(one: Credentials, other: Credentials): boolean {
  return (
    one.server === other.server &&
    one.serverName === other.serverName &&
    one.authority === other.authority &&
    one.insecure === other.insecure
  );
}
