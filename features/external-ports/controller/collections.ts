// The collections that the part for external ports watches, and which pods use which definitions.

import { definitionProvider } from "../rules/definition-provider.ts";
import { type ExternalPort, isReleased, readExternalPort } from "../rules/external-port.ts";
import { readNetworkAttachmentDefinition } from "../../../src/npwg/network-attachment-definition.ts";
import { type Pod, readPod } from "../../../src/npwg/pod.ts";
import { networksAnnotation, parseSelection } from "../../../src/npwg/selection.ts";
import type { NpwgProfile } from "../../../src/npwg/profile.ts";
import { type StoredObject, storedWhole } from "../../../host/cluster/kube/object-store.ts";
import { CollectionGroup } from "../../../host/controller/collection-group.ts";
import type { PartContext } from "../../../host/controller/part.ts";
import type { OwnedPort } from "./provider.ts";
import { Users } from "../../../host/controller/users.ts";
import { WatchedCollection } from "../../../host/controller/watched-collection.ts";

/** Paths of the collections. */
export const paths = {
  ports: "/apis/plexus.dev/v1alpha1/externalports",
  definitions: "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions",
  pods: "/api/v1/pods",
} as const;

/** A definition with an external port: only its annotations matter. */
interface StoredDefinition {
  readonly annotations: ReadonlyMap<string, string>;
}

/** A pod that selects networks. */
interface SelectingPod {
  readonly uid: string;
  /** The definitions as `NAMESPACE/NAME`. */
  readonly definitions: readonly string[];
}

/** The watched objects. A change of one queues the work on the pods and ports that it concerns. */
export class PortCollections {
  readonly watched: CollectionGroup;
  readonly ports: WatchedCollection<ExternalPort>;
  readonly definitions: WatchedCollection<StoredDefinition>;
  readonly pods: WatchedCollection<SelectingPod>;
  /** Pods by definition. */
  readonly #users = new Users();
  /** The state that each port had when its work was queued last. Only a changed state queues work again. */
  readonly #portStates = new Map<string, string>();
  /** Ports by the pod's key, `NAMESPACE/NAME`. */
  readonly #podPorts = new Users();
  /** The port that a provider answered for an object, by the object's key, until the collection has the object's status. */
  readonly #claims = new Map<string, { readonly provider: string; readonly providerId: string }>();
  readonly #onPod: (namespace: string, name: string) => void;
  readonly #onPort: (namespace: string, name: string) => void;
  readonly #onPodPorts: (namespace: string, name: string) => void;

  /** `profile`: that of the nodes, by which they read selections. */
  constructor(
    context: PartContext,
    profile: NpwgProfile,
    due: {
      readonly pod: (namespace: string, name: string) => void;
      readonly port: (namespace: string, name: string) => void;
      /** A port of the pod has changed. */
      readonly podPorts: (namespace: string, name: string) => void;
    },
  ) {
    this.#onPod = due.pod;
    this.#onPort = due.port;
    this.#onPodPorts = due.podPorts;
    this.ports = new WatchedCollection(context, {
      what: "externalports",
      path: paths.ports,
      read: storedPort,
      onChange: (namespace, name) => this.#portChanged(namespace, name),
    });
    this.definitions = new WatchedCollection(context, {
      what: "network-attachment-definitions",
      path: paths.definitions,
      read: storedDefinition,
      onChange: (namespace, name) => this.#definitionChanged(`${namespace}/${name}`),
    });
    this.pods = new WatchedCollection(context, {
      what: "pods that select networks",
      path: paths.pods,
      // A finished pod leaves the collection, and its ports are released.
      query: { fieldSelector: "status.phase!=Succeeded,status.phase!=Failed" },
      metadataOnly: true,
      read: (object) => storedPod(object, profile),
      onChange: (namespace, name) => this.#podChanged(namespace, name),
    });
    // Pods wait for their definitions, and no other ones do.
    this.watched = new CollectionGroup({ complete: [this.ports, this.pods], listed: [this.definitions] });
  }

  /** Whether a listed pod selects a definition with an external port. */
  wantsPorts(namespace: string, name: string): boolean {
    return this.pods.get(namespace, name)?.definitions.some((each) => this.#hasPort(each)) === true;
  }

  /** The listed ports of the pods that have and had this name. */
  portsOf(namespace: string, pod: string): readonly ExternalPort[] {
    const names = this.#podPorts.of(`${namespace}/${pod}`).map((key) => key.slice(namespace.length + 1));
    return names.flatMap((name) => this.ports.get(namespace, name) ?? []);
  }

  /** Whether the listed object of this key has the provider's port. */
  isInUse(provider: string, { key, providerId }: OwnedPort): boolean {
    const [namespace = "", name = ""] = key.split("/");
    const seen = this.ports.get(namespace, name);
    return seen?.spec.provider === provider && seen.port?.providerId === providerId && !isReleased(seen);
  }

  /**
   * Claims the provider's port with this ID for the object; false if another object has or claims it. Two answers may come before the status of either is
   * written. The claim lasts until `unclaim`.
   */
  claim({ namespace, name, spec: { provider } }: ExternalPort, providerId: string): boolean {
    const key = `${namespace}/${name}`;
    for (const [other, claim] of this.#claims) {
      if (other !== key && claim.provider === provider && claim.providerId === providerId) return false;
    }
    for (const { value } of this.ports.all()) {
      const isSame = value.namespace === namespace && value.name === name;
      const hasPort = value.spec.provider === provider && value.port?.providerId === providerId;
      if (!isSame && hasPort && !isReleased(value)) return false;
    }
    this.#claims.set(key, { provider, providerId });
    return true;
  }

  /** Ends the object's claim: its status is seen, the object is gone, or the provider gave another answer. */
  unclaim(namespace: string, name: string): void {
    this.#claims.delete(`${namespace}/${name}`);
  }

  #hasPort(definition: string): boolean {
    const [namespace = "", name = ""] = definition.split("/");
    return this.definitions.get(namespace, name) !== undefined;
  }

  #podChanged(namespace: string, name: string): void {
    const key = `${namespace}/${name}`;
    this.#users.set(key, this.pods.get(namespace, name)?.definitions ?? []);
    if (this.wantsPorts(namespace, name)) this.#onPod(namespace, name);
    for (const port of this.#podPorts.of(key)) this.#onPort(namespace, port.slice(namespace.length + 1));
  }

  #portChanged(namespace: string, name: string): void {
    const key = `${namespace}/${name}`;
    const port = this.ports.get(namespace, name);
    const pod = port?.spec.podName;
    const pods = this.#podPorts.set(key, pod === undefined ? [] : [`${namespace}/${pod}`]);
    const state = port === undefined ? undefined : stateOf(port);
    const isDue = state !== this.#portStates.get(key) || state === undefined;
    if (state === undefined) this.#portStates.delete(key);
    else this.#portStates.set(key, state);
    if (isDue) this.#onPort(namespace, name);
    for (const each of pods) this.#onPodPorts(namespace, each.slice(namespace.length + 1));
  }

  #definitionChanged(definition: string): void {
    if (!this.#hasPort(definition)) return;
    for (const pod of this.#users.of(definition)) {
      const [namespace = "", name = ""] = pod.split("/");
      this.#onPod(namespace, name);
    }
  }
}

/**
 * The state of a port by which work is due. The reason of a refusal is not part of it: the part itself writes the reason, and must then keep the pause
 * that the provider asks for.
 */
function stateOf({ uid, generation, isDeleted, conditions }: ExternalPort): string {
  const isReady = conditions.some(({ type, status }) => type === "Ready" && status === "True");
  return JSON.stringify([uid, generation, isDeleted, isReady]);
}

function storedPort(object: unknown): StoredObject<ExternalPort> | undefined {
  return storedWhole(readExternalPort(object), object);
}

/** A definition without an external port is not stored. */
function storedDefinition(object: unknown): StoredObject<StoredDefinition> | undefined {
  const read = readNetworkAttachmentDefinition(object);
  if (!read.ok || definitionProvider(read.value.annotations).kind === "none") return undefined;
  const { namespace, name, annotations } = read.value;
  return { namespace, name, value: { annotations }, size: JSON.stringify([...annotations]).length };
}

/** A pod that selects no network is not stored. */
function storedPod(object: unknown, profile: NpwgProfile): StoredObject<SelectingPod> | undefined {
  const pod = readPod(object);
  if (!pod.ok || pod.value.uid === undefined) return undefined;
  const definitions = definitionsOf(pod.value, profile);
  if (definitions.length === 0) return undefined;
  const { namespace, name, uid } = pod.value;
  return { namespace, name, value: { uid, definitions }, size: definitions.join().length };
}

function definitionsOf({ annotations, namespace }: Pod, profile: NpwgProfile): readonly string[] {
  const selection = parseSelection(annotations.get(networksAnnotation), namespace, profile);
  return selection.ok ? selection.value.networks.map((each) => `${each.namespace}/${each.name}`) : [];
}
