// Whether a node is gone, by a request to the API. A watch may lag behind, and the deletion of a block cannot be undone.

import type { ApiObjects } from "../../../host/cluster/kube/api-objects.ts";
import { subdomainProblem } from "../../../src/npwg/object-names.ts";
import type { WorkOutcome } from "../../../host/cluster/work/work-queue.ts";

/** A node's presence, or the outcome of the work if the API did not tell it. */
export type NodePresence =
  | { readonly kind: "known"; readonly nodeExists: boolean; readonly podsBound: number }
  | { readonly kind: "unknown"; readonly outcome: WorkOutcome };

/** Asks for the Node object; if the object is absent, for pods that are bound to the node. A name that no node can have counts as present. */
export async function nodePresence(objects: ApiObjects, node: string): Promise<NodePresence> {
  // The name comes from an object that another program may have written, and becomes a part of a path and of a selector.
  if (subdomainProblem(node) !== undefined) return { kind: "known", nodeExists: true, podsBound: 0 };
  const found = await objects.get(`/api/v1/nodes/${node}`);
  if (found.kind === "object") return { kind: "known", nodeExists: true, podsBound: 0 };
  if (found.kind !== "absent") return unknown(found);
  const pods = await objects.list("/api/v1/pods", { fieldSelector: `spec.nodeName=${node}` }, { metadataOnly: true });
  if (pods.kind !== "list") return unknown(pods);
  return { kind: "known", nodeExists: false, podsBound: pods.items.length };
}

function unknown(answer: { readonly why: string; readonly pauseMs?: number | undefined }): NodePresence {
  return { kind: "unknown", outcome: { kind: "failed", why: answer.why, pauseMs: answer.pauseMs } };
}
