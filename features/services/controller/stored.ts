// The stored parts of the objects that the part for Services watches. A cluster has many pods, and most are on no further network.

import { isJsonObject } from "../../../src/json/document.ts";
import { readObjectMeta } from "../../../src/npwg/object-meta.ts";
import { labelsOf } from "../../../src/npwg/pod.ts";
import type { StoredObject } from "../../../host/cluster/kube/object-store.ts";
import { type MemberPod, readMemberPod } from "../rules/member-pod.ts";
import { type NetworkService, readService, type UnreadableService } from "../rules/service.ts";
import { manager, readSlice, type ServiceSlice } from "../rules/service-slice.ts";

/** A pod on no further network. */
const noMember = undefined;

/** A text of the cluster once, however many objects have it. */
export class SharedTexts {
  readonly #texts = new Map<string, string>();

  /** Texts that few objects have are not worth a place. */
  readonly #max = 20_000;

  of(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    if (this.#texts.size < this.#max) this.#texts.set(text, text);
    return text;
  }
}

/** Reads pods; undefined for a pod without usable metadata. */
export function podReader(): (object: unknown) => StoredObject<MemberPod | undefined> | undefined {
  const texts = new SharedTexts();
  const ports = new Map<string, MemberPod["ports"]>();
  return (object) => {
    const { namespace, name } = nameOf(object) ?? {};
    if (namespace === undefined || name === undefined) return undefined;
    const pod = readMemberPod(object);
    if (pod === undefined) return { namespace: texts.of(namespace), name, value: noMember, size: 0 };
    const portsText = JSON.stringify(pod.ports);
    const shared = ports.get(portsText) ?? pod.ports;
    if (ports.size < maxShared) ports.set(portsText, shared);
    const value = {
      ...pod,
      node: texts.of(pod.node),
      labels: texts.of(pod.labels),
      ports: shared,
    };
    return { namespace: texts.of(namespace), name, value, size: podSize(pod) };
  };
}

const maxShared = 1000;

/** The memory of a pod in characters: each part has some 50 besides its text. */
function podSize({ labels, ports, networks }: MemberPod): number {
  return ports.reduce((sum, { name }) => sum + 50 + name.length, labels.length + 50 + networks.length);
}

/** Reads a Service; a Service of the cluster's own network is not stored. */
export function storedService(object: unknown): StoredObject<NetworkService | UnreadableService | undefined> | undefined {
  const named = nameOf(object);
  if (named === undefined) return undefined;
  const service = readService(object);
  return { ...named, value: service, size: service === undefined ? 0 : JSON.stringify(service).length };
}

/** Reads a slice of Plexus. */
export function storedSlice(object: unknown): StoredObject<ServiceSlice> | undefined {
  const slice = readSlice(object);
  if (slice === undefined || slice.managedBy !== manager) return undefined;
  const { managedBy: _, labels: __, ...value } = slice;
  return { namespace: value.namespace, name: value.name, value, size: sliceSize(value) };
}

/** The memory of a slice in characters. */
function sliceSize({ meta, ports, endpoints }: ServiceSlice): number {
  return endpoints.reduce((sum, text) => sum + 50 + text.length, meta.length + ports.length);
}

/** Reads a node's zone; empty if it names none. */
export function storedZone(object: unknown): StoredObject<string> | undefined {
  const meta = readObjectMeta(object);
  return meta.ok
    ? { namespace: "", name: meta.value.name, value: labelsOf(object).get("topology.kubernetes.io/zone") ?? "", size: 50 }
    : undefined;
}

function nameOf(object: unknown): { readonly namespace: string; readonly name: string } | undefined {
  const metadata = isJsonObject(object) ? object["metadata"] : undefined;
  if (!isJsonObject(metadata)) return undefined;
  const { namespace = "default", name } = metadata;
  return typeof namespace === "string" && typeof name === "string" ? { namespace, name } : undefined;
}
