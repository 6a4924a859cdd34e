// Whether a stopping daemon's DaemonSet remains: then another daemon follows, and the network configuration stays. Otherwise Plexus is being
// taken away, and a configuration that stays would keep every new pod of the node from starting (MO-26).

import { isJsonObject } from "../json/document.ts";
import { fitNode, type NodeFit } from "./node-fit.ts";

/** The API's answer: status and parsed body; or `undefined` if the API gave none. */
export type FateAnswer = { readonly status: number; readonly object: unknown } | undefined;

/** The API server's answers about the DaemonSet and its namespace. */
export interface FateFacts {
  readonly daemonSet: FateAnswer;
  readonly namespace: FateAnswer;
  readonly node: FateAnswer;
  /** The daemon's pod; asked only if its node gets no new one. */
  readonly pod: FateAnswer;
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
export function decideFate({ daemonSet, namespace, node, pod, uid }: FateFacts): Fate {
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
  const fit = fitOf({ daemonSet, node });
  if (fit.kind === "unfit") return goes(`the DaemonSet no longer selects this node (${fit.why})`);
  // A container that restarts keeps its pod. After the pod's deletion, such as that of an update, no other pod comes.
  if (fit.kind === "only-running" && pod?.status === 200 && isBeingDeleted(pod.object))
    return goes(`the DaemonSet makes no new pod on this node (${fit.why})`);
  return stays("the DaemonSet remains");
}

/** How the DaemonSet's pods fit the node; without an answer they fit. */
export function fitOf({ daemonSet, node }: Pick<FateFacts, "daemonSet" | "node">): NodeFit {
  if (daemonSet?.status !== 200 || node?.status !== 200) return { kind: "fits" };
  return fitNode(daemonSet.object, node.object);
}

function isBeingDeleted(object: unknown): boolean {
  return typeof metadataOf(object)["deletionTimestamp"] === "string";
}

/** The metadata of an object of the API. */
export function metadataOf(object: unknown): Readonly<Record<string, unknown>> {
  const metadata = isJsonObject(object) ? object["metadata"] : undefined;
  return isJsonObject(metadata) ? metadata : {};
}
