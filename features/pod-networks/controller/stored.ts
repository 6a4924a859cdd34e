// The stored parts of the objects that the PodNetworks' part watches.

import { networksLabel, podLabel, readPod } from "../../../src/npwg/pod.ts";
import {
  type NetworkAttachmentDefinition,
  readNetworkAttachmentDefinition,
} from "../../../src/npwg/network-attachment-definition.ts";
import { type PodNetwork, type PodNetworkAttachment, readPodNetwork, readPodNetworkAttachment } from "../rules/objects.ts";
import { podNetworksAnnotation } from "../rules/annotations.ts";
import { type PodNetworkEntry, readPodNetworks } from "../rules/pod-networks.ts";
import { type StoredObject, storedWhole } from "../../../host/cluster/kube/object-store.ts";
import { maxCheckedLength } from "../../../host/controller/definitions/stored-definition.ts";

/** The value of the label of pods that name networks, while the pod waits behind its gate. */
export const gatedValue = "gated";

/** The kept part of a pod that names networks and has not finished. */
export interface StoredPod {
  readonly entries: readonly PodNetworkEntry[];
  readonly isGated: boolean;
}

/** Reads a PodNetwork. */
export function storedNetwork(object: unknown): StoredObject<PodNetwork> | undefined {
  return storedWhole(readPodNetwork(object), object);
}

/** Reads a PodNetworkAttachment. */
export function storedAttachment(object: unknown): StoredObject<PodNetworkAttachment> | undefined {
  return storedWhole(readPodNetworkAttachment(object), object);
}

/** A definition whose configuration is kept up to a length: it is read again for each object that refers to it. */
export interface KeptDefinition extends NetworkAttachmentDefinition {
  /** The length of a `spec.config` that is too long to be kept. */
  readonly omittedLength?: number;
}

/** Reads a definition. */
export function storedDefinition(object: unknown): StoredObject<KeptDefinition> | undefined {
  const read = readNetworkAttachmentDefinition(object);
  if (!read.ok) return undefined;
  const { namespace, name, config } = read.value;
  // The controller reads no annotation of definitions.
  const value = { namespace, name, annotations: new Map<string, string>() };
  if (config === undefined) return { namespace, name, value, size: 0 };
  if (config.length > maxCheckedLength) return { namespace, name, value: { ...value, omittedLength: config.length }, size: 0 };
  return { namespace, name, value: { ...value, config }, size: config.length };
}

/** Reads a pod's metadata. A pod whose annotation is not readable uses no network: its ADD is refused. */
export function storedPod(object: unknown): StoredObject<StoredPod> | undefined {
  const pod = readPod(object);
  if (!pod.ok) return undefined;
  const { namespace, name, annotations } = pod.value;
  const text = annotations.get(podNetworksAnnotation);
  return { namespace, name, value: podValue(text, podLabel(object, networksLabel) === gatedValue), size: text?.length ?? 0 };
}

/** Values of pods by their text: pods of one Deployment share one value, which saves most of the memory of 60,000 pods. */
const podValues = new Map<string, StoredPod>();
const maxPodValues = 10_000;

function podValue(text: string | undefined, isGated: boolean): StoredPod {
  const key = `${isGated ? gatedValue : ""} ${text ?? ""}`;
  const known = podValues.get(key);
  if (known !== undefined) return known;
  const entries = readPodNetworks(text);
  const value = { entries: entries.ok ? entries.value : [], isGated };
  if (podValues.size >= maxPodValues) podValues.clear();
  podValues.set(key, value);
  return value;
}
