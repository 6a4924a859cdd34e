// The part for PodNetworks (KEP-3698, "PodNetwork Controller"): conditions, finalizers, the default PodNetwork, and the gates of pods.

import { podNetworkApiVersion } from "../rules/objects.ts";
import { defaultPodNetwork } from "../rules/pod-networks.ts";
import { ownProvider } from "../rules/provider.ts";
import type { MakePart, PartContext } from "../../../host/controller/part.ts";
import type { WorkOutcome } from "../../../host/cluster/work/work-queue.ts";
import { outcomeOf } from "../../../host/controller/work/request-outcome.ts";
import { watchingPart } from "../../../host/controller/work/watching-part.ts";
import { NetworkCollections, paths } from "./collections.ts";
import { workOnAttachment, workOnNetwork } from "./object-work.ts";
import { workOnPod } from "./pod-gate.ts";
import { networkKey, partsOf } from "./keys.ts";

/** Maximum objects whose work runs at the same time. */
const workers = 8;

/** Pause until the default PodNetwork is created, while the API does not have its kind, in ms. */
const retryPauseMs = 2_000;

/**
 * Makes the part. `createDefault`: whether the controller creates the default PodNetwork (KE-32). False: the administrator creates it
 * (KE-33). `withClaims`: whether allocated resource claims use the PodNetworks that they name.
 */
export function podNetworksPart(createDefault: boolean, withClaims: boolean): MakePart {
  return watchingPart({
    name: "podnetworks",
    workers,
    collections: (context, onDue) => new NetworkCollections(context, (key) => onDue(key, 0), withClaims),
    work: (context, collections) => (key) => workOn(context, collections, key, createDefault),
    firstKey: networkKey(defaultPodNetwork),
  });
}

async function workOn(
  context: PartContext,
  collections: NetworkCollections,
  key: string,
  createDefault: boolean,
): Promise<WorkOutcome> {
  const { kind, namespace, name } = partsOf(key);
  if (kind === "attachment") return workOnAttachment(context, collections, namespace, name);
  if (kind === "pod") return workOnPod(context, collections, namespace, name);
  const isMissing = collections.networks.get("", name) === undefined;
  if (isMissing && name === defaultPodNetwork && createDefault) return create(context);
  return workOnNetwork(context, collections, name);
}

/** Creates the default PodNetwork, which stands for the cluster's default network. */
async function create({ objects, log }: PartContext): Promise<WorkOutcome> {
  const made = await objects.create(paths.networks, {
    apiVersion: podNetworkApiVersion,
    kind: "PodNetwork",
    metadata: { name: defaultPodNetwork },
    spec: { provider: ownProvider },
  });
  if (made.kind === "object") log("info", `PodNetwork "${defaultPodNetwork}" was missing and is created`);
  // The CustomResourceDefinition is not there yet, or was removed.
  if (made.kind === "absent") return { kind: "again", afterMs: retryPauseMs };
  return made.kind === "conflict" ? { kind: "done" } : outcomeOf(made);
}
