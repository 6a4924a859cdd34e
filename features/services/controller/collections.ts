// The collections that the part for Services watches, and the Services that a change of each makes due.

import { CollectionGroup } from "../../../host/controller/collection-group.ts";
import type { PartContext } from "../../../host/controller/part.ts";
import { WatchedCollection } from "../../../host/controller/watched-collection.ts";
import type { NamedPod } from "../rules/endpoint.ts";
import { isSameMember, isSelected, type MemberPod } from "../rules/member-pod.ts";
import type { NetworkService, UnreadableService } from "../rules/service.ts";
import { endpointSlicesPath, managedByLabel, manager, type ServiceSlice } from "../rules/service-slice.ts";
import { ChangePace } from "../../../host/cluster/work/change-pace.ts";
import { PodIndex } from "./pod-index.ts";
import { ServiceIndex } from "./service-index.ts";
import { podReader, storedService, storedSlice, storedZone } from "./stored.ts";

/** Pause in which further changes of a Service's pods are collected, in ms. */
const collectMs = 50;
/** 60,000 pods on further networks take some 20 Mi characters. */
const maxTotal = 128 * 1024 * 1024;

/** The watched objects. `onDue` receives `NAMESPACE/NAME` of each Service whose slices may have to change. */
export class ServiceCollections {
  readonly watched: CollectionGroup;
  readonly #services: WatchedCollection<NetworkService | UnreadableService | undefined>;
  readonly #pods: WatchedCollection<MemberPod | undefined>;
  readonly #nodes: WatchedCollection<string>;
  readonly #slices: WatchedCollection<ServiceSlice>;
  readonly #serviceIndex = new ServiceIndex();
  readonly #podIndex = new PodIndex();
  /** The slices of each Service by name, and the Service of each slice. */
  readonly #slicesOf = new Map<string, Map<string, ServiceSlice>>();
  readonly #serviceOfSlice = new Map<string, string>();
  /** The zone of each node. */
  readonly #zones = new Map<string, string>();
  /**
   * Services, as last seen, without slices of kube-controller-manager. A Service that was one of the cluster's own meanwhile has such slices again, and is another
   * object since.
   */
  readonly leftToPlexus = new WeakSet<NetworkService>();
  /** Names of slices of other writers that a Service's slices would have. */
  readonly #takenNames = new Map<string, ReadonlySet<string>>();
  readonly #onDue: (key: string, afterMs: number) => void;

  constructor(context: PartContext, onDue: (key: string, afterMs: number) => void) {
    const pace = new ChangePace(() => context.clock.now());
    this.#onDue = (key, afterMs) => onDue(key, pace.pauseMs(partsOf(key)[0], afterMs));
    this.#services = new WatchedCollection(context, {
      what: "services",
      path: "/api/v1/services",
      read: storedService,
      onChange: (namespace, name) => this.#serviceChanged(namespace, name),
      maxTotal,
    });
    this.#pods = new WatchedCollection(context, {
      what: "pods of services",
      path: "/api/v1/pods",
      query: { fieldSelector: "status.phase!=Succeeded,status.phase!=Failed" },
      read: podReader(),
      onChange: (namespace, name) => this.#podChanged(namespace, name),
      maxTotal,
    });
    this.#nodes = new WatchedCollection(context, {
      what: "nodes",
      path: "/api/v1/nodes",
      metadataOnly: true,
      read: storedZone,
      onChange: (_, name) => this.#nodeChanged(name),
    });
    this.#slices = new WatchedCollection(context, {
      what: "endpointslices",
      path: endpointSlicesPath(""),
      query: { labelSelector: `${managedByLabel}=${manager}` },
      read: storedSlice,
      onChange: (namespace, name) => this.#sliceChanged(namespace, name),
      maxTotal,
    });
    // Before everything is listed, slices of pods that are not seen yet would be emptied.
    this.watched = new CollectionGroup({ listed: [this.#services, this.#pods, this.#nodes, this.#slices] });
  }

  /** The Service; undefined if it is gone or on no further network. */
  service(key: string): NetworkService | UnreadableService | undefined {
    return this.#services.get(...partsOf(key));
  }

  /** The pods of a Service. */
  members(service: NetworkService): readonly NamedPod[] {
    return [...this.#podIndex.podsOf(service.namespace, service.network)].filter(({ pod }) =>
      isSelected(pod.labels, service.selector),
    );
  }

  /** The zone of a node, empty if it names none; undefined: there is no such node. */
  zoneOf(node: string): string | undefined {
    return this.#zones.get(node);
  }

  /** The slices that Plexus wrote for the Service. */
  slices(key: string): readonly ServiceSlice[] {
    return [...(this.#slicesOf.get(key)?.values() ?? [])];
  }

  /** The names that a Service's slices cannot have. */
  takenNames(key: string): ReadonlySet<string> | undefined {
    return this.#takenNames.get(key);
  }

  /** Notes all names that a Service's slices cannot have. */
  noteTakenNames(key: string, names: ReadonlySet<string>): void {
    this.#takenNames.set(key, names);
  }

  #serviceChanged(namespace: string, name: string): void {
    const service = this.#services.get(namespace, name);
    if (service === undefined) this.#takenNames.delete(`${namespace}/${name}`);
    const wasKnown = this.#serviceIndex.put(`${namespace}/${name}`, namespace, service);
    if (wasKnown || service !== undefined) this.#onDue(`${namespace}/${name}`, 0);
  }

  #podChanged(namespace: string, name: string): void {
    const pod = this.#pods.get(namespace, name);
    const before = this.#podIndex.put(namespace, name, pod);
    // Most changes of a pod are of its containers' states, and a list that is read anew has each pod.
    if (isSameMember(before, pod)) return;
    const due = new Set<string>();
    for (const each of [before, pod]) {
      if (each === undefined) continue;
      for (const service of this.#serviceIndex.servicesOf(namespace, each)) due.add(service);
    }
    for (const service of due) this.#onDue(service, collectMs);
  }

  #nodeChanged(name: string): void {
    const zone = this.#nodes.get("", name);
    if (this.#zones.get(name) === zone) return;
    if (zone === undefined) this.#zones.delete(name);
    else this.#zones.set(name, zone);
    // Until everything is listed, all Services wait in any case: a look at all pods for each node would be wasted.
    if (!this.watched.isReady) return;
    for (const { namespace, pod } of this.#podIndex.podsOn(name))
      for (const service of this.#serviceIndex.servicesOf(namespace, pod)) this.#onDue(service, collectMs);
  }

  #sliceChanged(namespace: string, name: string): void {
    const slice = this.#slices.get(namespace, name);
    const key = `${namespace}/${name}`;
    const before = this.#serviceOfSlice.get(key);
    const after = slice === undefined ? undefined : `${namespace}/${slice.service}`;
    if (before !== undefined && before !== after) {
      const slices = this.#slicesOf.get(before);
      slices?.delete(name);
      if (slices?.size === 0) this.#slicesOf.delete(before);
      this.#serviceOfSlice.delete(key);
    }
    if (slice !== undefined && after !== undefined) {
      const slices = this.#slicesOf.get(after) ?? new Map<string, ServiceSlice>();
      this.#slicesOf.set(after, slices.set(name, slice));
      this.#serviceOfSlice.set(key, after);
    }
    for (const service of new Set([before, after])) if (service !== undefined) this.#onDue(service, collectMs);
  }
}

function partsOf(key: string): readonly [namespace: string, name: string] {
  const slash = key.indexOf("/");
  return [key.slice(0, slash), key.slice(slash + 1)];
}
