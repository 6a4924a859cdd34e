// Whether a stopping daemon's DaemonSet remains: then another daemon follows, and the network configuration stays. Otherwise Plexus is being
// taken away, and a configuration that stays would keep every new pod of the node from starting (MO-26).

import { isJsonObject } from "../json/document.ts";

/** The API's answer: status and parsed body; or `undefined` if the API gave none. */
export type FateAnswer = { readonly status: number; readonly object: unknown } | undefined;

/** The API server's answers about the DaemonSet and its namespace. */
export interface FateFacts {
  readonly daemonSet: FateAnswer;
  readonly namespace: FateAnswer;
  /** The node; asked only if the DaemonSet selects nodes. */
  readonly node: FateAnswer;
  /** The UID that the DaemonSet had when this daemon started; undefined if unknown. */
  readonly uid: string | undefined;
}

/** The decision, with its reason for the log. */
export interface Fate {
  readonly stays: boolean;
  readonly why: string;
  /** False: another answer may come soon. A server that was just started refuses rights that it has not read yet. */
  readonly isFinal: boolean;
}

const goes = (why: string, isFinal = true): Fate => ({ stays: false, why, isFinal });
const stays = (why: string, isFinal = true): Fate => ({ stays: true, why, isFinal });

/** Decides. No answer, or an answer of a server in trouble, means that the configuration stays: calls wait for the next daemon. */
export function decideFate({ daemonSet, namespace, node, uid }: FateFacts): Fate {
  if (namespace !== undefined && namespace.status === 200 && isBeingDeleted(namespace.object))
    return goes("the namespace of the DaemonSet is being deleted");
  if (daemonSet === undefined) return stays("the Kubernetes API gave no answer", false);
  const { status, object } = daemonSet;
  if (status === 404) return goes("the DaemonSet is gone");
  if (status === 401) return goes("the API server no longer accepts the service account (HTTP 401)", false);
  if (status === 403) return goes("the service account may no longer read the DaemonSet (HTTP 403)", false);
  if (status !== 200) return stays(`the API server answered HTTP ${status}`, false);
  if (isBeingDeleted(object)) return goes("the DaemonSet is being deleted");
  const current = metadataOf(object)["uid"];
  if (uid !== undefined && current !== uid) return goes("the DaemonSet was deleted and created again");
  const missing = node?.status === 200 ? missingLabel(selectorOf(object), node.object) : undefined;
  if (missing !== undefined) return goes(`the DaemonSet no longer selects this node (${missing})`);
  return stays("the DaemonSet remains");
}

/** The node labels that the DaemonSet's pods need. */
export function selectorOf(daemonSet: unknown): Readonly<Record<string, unknown>> {
  let value: unknown = daemonSet;
  for (const key of ["spec", "template", "spec", "nodeSelector"]) value = isJsonObject(value) ? value[key] : undefined;
  return isJsonObject(value) ? value : {};
}

function missingLabel(selector: Readonly<Record<string, unknown>>, node: unknown): string | undefined {
  const labels = metadataOf(node)["labels"];
  const found = Object.entries(selector).find(([key, value]) => !isJsonObject(labels) || labels[key] !== value);
  return found === undefined ? undefined : `label ${found[0]}`;
}

function isBeingDeleted(object: unknown): boolean {
  return typeof metadataOf(object)["deletionTimestamp"] === "string";
}

/** The metadata of an object of the API. */
export function metadataOf(object: unknown): Readonly<Record<string, unknown>> {
  const metadata = isJsonObject(object) ? object["metadata"] : undefined;
  return isJsonObject(metadata) ? metadata : {};
}
