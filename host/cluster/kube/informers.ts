// What a resident brain holds of a cluster: the pods of its node, and all definitions of networks.

import { ok, type Result } from "../../src/fault/result.ts";
import type { NetworkAttachmentDefinition } from "../../src/npwg/network-attachment-definition.ts";
import { checkPodUid, type Pod } from "../../src/npwg/pod.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { Connection } from "./connection.ts";
import type { Credentials, CredentialSource } from "./credentials.ts";
import type { StoredObject } from "./object-store.ts";
import { Reflector, type ReflectorInit, type ReflectorState } from "./reflector.ts";
import { storedDefinition, storedPod } from "./stored-objects.ts";

export interface InformersInit {
  readonly connection: Connection;
  readonly credentials: CredentialSource;
  /** The node's name in the API; undefined: its pods are not watched. */
  readonly nodeName: string | undefined;
  /** Whether it goes on however long nobody asks. */
  readonly keep: boolean;
  readonly warn: (text: string) => void;
}

/** A kubelet runs 110 pods, 250 or 500 of them with small annotations; what is beyond is asked for. */
const podBounds = { largest: 64 * 1024, most: 8 * 1024 * 1024 };
/** 2,000 definitions of 1 KB are 2.4 MB here. */
const definitionBounds = { largest: 64 * 1024, most: 16 * 1024 * 1024 };

/** So many pods that the runtime named and the store did not have, before it had any: the node's name is doubted then. */
const strangersUntilDoubt = 5;

const connectMs = 10_000;

/** What nobody has asked for so long is let go. */
const unusedMs = 3_600_000;

/** Lookups since the start. */
export interface LookupCounts {
  /** Those that were answered from memory, and those that went on to the server. */
  readonly held: number;
  readonly asked: number;
}

/** What is watched: `undefined` where it isn't. */
export interface Watched<T> {
  readonly pods: T;
  readonly definitions: T;
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
}

export class Informers {
  readonly #init: InformersInit;
  #running: Running | undefined;
  #unused: NodeJS.Timeout | undefined;
  readonly #pods = { held: 0, asked: 0 };
  readonly #definitions = { held: 0, asked: 0 };
  #podsHeld = 0;
  #strangers = 0;

  constructor(init: InformersInit) {
    this.#init = init;
  }

  get counts(): Watched<LookupCounts> {
    return { pods: { ...this.#pods }, definitions: { ...this.#definitions } };
  }

  get states(): Watched<ReflectorState | undefined> {
    return { pods: this.#running?.pods?.state, definitions: this.#running?.definitions.state };
  }

  /**
   * Begins, or goes on; false where the credentials can't be read. What was held is let go where the credentials lead to another server by now: nothing of it is to be believed.
   */
  async begin(): Promise<boolean> {
    const current = await this.#init.credentials();
    // Whoever asks the server next is told what is wrong with them.
    if (!current.ok) return false;
    this.#unused?.refresh();
    if (this.#running !== undefined && isSameCluster(this.#running.credentials, current.value)) {
      this.#take(this.#running, current.value);
      return true;
    }
    this.stop();
    const { connection, credentials, nodeName, warn } = this.#init;
    const shared = { connection, credentials, warn };
    const running: Running = {
      credentials: current.value,
      pods:
        nodeName === undefined
          ? undefined
          : new Reflector<Pod>({ ...shared, ...podsOf(nodeName), onNew: (pod) => void this.#connect(pod) }),
      definitions: new Reflector<NetworkAttachmentDefinition>({ ...shared, ...allDefinitions }),
    };
    this.#running = running;
    if (!this.#init.keep) this.#unused = setTimeout(() => this.stop(), unusedMs).unref();
    running.pods?.start();
    running.definitions.start();
    return true;
  }

  /** Nobody is served what others' credentials fetched: whether these may watch, a watch of theirs tells. */
  #take(running: Running, current: Credentials): void {
    if (running.credentials === current) return;
    running.credentials = current;
    running.pods?.renew();
    running.definitions.renew();
  }

  stop(): void {
    clearTimeout(this.#unused);
    this.#unused = undefined;
    this.#running?.pods?.stop();
    this.#running?.definitions.stop();
    this.#running = undefined;
    this.#podsHeld = 0;
    this.#strangers = 0;
  }

  /** `cluster`, with what is held answered from memory; all else is still asked of it, so nothing is ever missing by mistake. */
  over(cluster: Cluster): Cluster {
    return {
      ...cluster,
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
        if (absent && found.ok && (expected?.uid ?? "") !== "") this.#stranger();
        return found;
      },
      networkAttachmentDefinition: async (namespace, name): Promise<Result<NetworkAttachmentDefinition>> => {
        const known = this.#running?.definitions.get(namespace, name);
        count(this.#definitions, known !== undefined);
        return known === undefined ? cluster.networkAttachmentDefinition(namespace, name) : ok(known);
      },
    };
  }

  /** Only the one that the runtime means, by its uid: another one of the name may have taken its place. */
  #pod(namespace: string, name: string, uid: string | undefined): Pod | undefined {
    if (uid === undefined || uid === "") return undefined;
    const known = this.#running?.pods?.get(namespace, name);
    if (known?.uid === undefined) return undefined;
    const same = checkPodUid(known, uid);
    return same.ok ? same.value : undefined;
  }

  /**
   * A pod that has just come to the node is attached in a moment: if the server has ended idle connections, one is made by asking for it, so
   * that the call finds it there.
   */
  async #connect({ namespace, name }: StoredObject<Pod>): Promise<void> {
    const { connection, credentials } = this.#init;
    const current = await credentials();
    if (!current.ok || connection.isReady(current.value)) return;
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    await connection.request(current.value, { method: "GET", path, metadataOnly: true }, connectMs);
  }

  #stranger(): void {
    if (this.#podsHeld > 0 || ++this.#strangers !== strangersUntilDoubt) return;
    this.#init.warn(
      `${strangersUntilDoubt} pods that the runtime attached here are not among the pods that the API has for node ` +
        `"${this.#init.nodeName}": if the node has another name there, give it with --node-name; until then each ADD asks for its pod`,
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
