// The parts of a pod and of a definition that are held in memory: those that an attachment needs.

import { keptAnnotations } from "../../../src/npwg/kept-annotations.ts";
import {
  type NetworkAttachmentDefinition,
  readNetworkAttachmentDefinition,
} from "../../../src/npwg/network-attachment-definition.ts";
import { type Pod, readPod } from "../../../src/npwg/pod.ts";
import type { StoredObject } from "./object-store.ts";

/** The stored part of a pod; undefined if the pod cannot be read: a lookup then asks the server and reports the problem. */
export function storedPod(object: unknown): StoredObject<Pod> | undefined {
  const pod = readPod(object);
  return pod.ok ? stored({ ...pod.value, annotations: keptAnnotations(pod.value.annotations) }) : undefined;
}

/** The stored part of a definition; undefined if the definition cannot be read. */
export function storedDefinition(object: unknown): StoredObject<NetworkAttachmentDefinition> | undefined {
  const definition = readNetworkAttachmentDefinition(object);
  if (!definition.ok) return undefined;
  const { namespace, name, config, annotations } = definition.value;
  const kept = { namespace, name, annotations: keptAnnotations(annotations), ...(config === undefined ? {} : { config }) };
  return stored(kept, config?.length);
}

function stored<T extends Pick<Pod, "namespace" | "name" | "annotations" | "labels">>(value: T, texts = 0): StoredObject<T> {
  const { namespace, name, annotations, labels = [] } = value;
  let size = namespace.length + name.length + texts;
  for (const [key, text] of [...annotations, ...labels]) size += key.length + text.length;
  return { namespace, name, value, size };
}
