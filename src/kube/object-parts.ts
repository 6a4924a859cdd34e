// The parts of an object of the Kubernetes API that all kinds have. The API server validates custom resources by their CustomResourceDefinitions, but
// another server or an older definition may answer.

import { describeJson, isJsonObject } from "../json/document.ts";

/** An object, or the problem why it cannot be read, as the rest of a sentence that begins with the object's name. */
export type Reading<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

/** The metadata that Plexus uses, but for the namespace. */
export interface ObjectMetadata {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  /** Whether the object's deletion was asked for. */
  readonly isDeleted: boolean;
  readonly finalizers: readonly string[];
}

/** The parts of an object. */
export interface ObjectParts {
  /** Empty for a cluster-scoped object. */
  readonly namespace: string;
  readonly metadata: ObjectMetadata;
  readonly spec: Readonly<Record<string, unknown>>;
  /** Empty if the object has none. */
  readonly status: Readonly<Record<string, unknown>>;
}

/** A failed reading. */
export function problem(text: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem: text };
}

/** Reads the parts of an object whose kind has a namespace, or is cluster-scoped. */
export function readParts(object: unknown, { isNamespaced = false } = {}): Reading<ObjectParts> {
  const metadata = isJsonObject(object) ? object["metadata"] : undefined;
  if (!isJsonObject(object) || !isJsonObject(metadata)) return problem(`metadata is ${describeJson(metadata)}`);
  const { name, namespace = "", uid, resourceVersion, generation = 0, deletionTimestamp, finalizers = [] } = metadata;
  if (typeof name !== "string" || name === "") return problem(`metadata.name is ${describeJson(name)}`);
  if (typeof namespace !== "string" || (namespace !== "") !== isNamespaced) {
    return problem(`metadata.namespace is ${describeJson(namespace)}`);
  }
  if (typeof uid !== "string" || uid === "") return problem(`metadata.uid is ${describeJson(uid)}`);
  if (typeof resourceVersion !== "string") return problem(`metadata.resourceVersion is ${describeJson(resourceVersion)}`);
  const { spec, status = {} } = object;
  if (!isJsonObject(spec)) return problem(`spec is ${describeJson(spec)}`);
  return {
    ok: true,
    value: {
      namespace,
      metadata: {
        name,
        uid,
        resourceVersion,
        generation: typeof generation === "number" ? generation : 0,
        isDeleted: typeof deletionTimestamp === "string",
        finalizers: Array.isArray(finalizers) ? finalizers.filter((each) => typeof each === "string") : [],
      },
      spec,
      status: isJsonObject(status) ? status : {},
    },
  };
}
