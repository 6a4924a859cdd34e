// The part for PodNetworks (KEP-3698, "PodNetwork Controller"): conditions, finalizers, the default PodNetwork, and the gates of pods.

import { setTimeout } from "node:timers/promises";
import { podNetworkApiVersion } from "../rules/objects.ts";
import { defaultPodNetwork } from "../rules/pod-networks.ts";
import { ownProvider } from "../rules/provider.ts";
import type { ControllerPart, MakePart, PartContext } from "../../../host/controller/part.ts";
import { observeState, observeWork } from "../../../host/controller/work/observe-work.ts";
import { type WorkOutcome, WorkQueue } from "../../../host/cluster/work/work-queue.ts";
import { outcomeOf } from "../../../host/controller/work/request-outcome.ts";
import { NetworkCollections, paths } from "./collections.ts";
import { workOnAttachment, workOnNetwork } from "./object-work.ts";
import { workOnPod } from "./pod-gate.ts";
import { networkKey, partsOf } from "./keys.ts";

/** Settings of the part. */
export interface PodNetworksInit {
  /** Whether the controller creates the default PodNetwork (KE-32). False: the administrator creates it (KE-33). */
  readonly createDefault: boolean;
}

const part = "podnetworks";
/** Maximum objects whose work runs at the same time. */
const workers = 8;
/** Interval in ms at which the first lists are awaited. */
const listingMs = 100;
/** Pause of an object while a collection is incomplete again, because it has an object that is too large to be stored, in ms. */
const incompleteMs = 10_000;

/** Pause until the default PodNetwork is created, while the API does not have its kind, in ms. */
const absentMs = 2_000;

/** Makes the part. */
export function podNetworksPart({ createDefault }: PodNetworksInit): MakePart {
  return (context): ControllerPart => {
    const queue: WorkQueue = new WorkQueue({
      clock: context.clock,
      workers,
      work: (key) => context.spans.work(part, key, () => workOn(context, collections, key, createDefault)),
      onWorked: observeWork(context, part),
    });
    const collections = new NetworkCollections(context, (key) => queue.add(key));
    observeState(context, part, queue, () => collections.states);
    return {
      name: part,
      run: async (signal) => {
        collections.start(signal);
        queue.add(networkKey(defaultPodNetwork));
        // Keys stay in the queue until each collection is listed, so that no key is worked on in vain.
        while (!collections.complete && !signal.aborted) await setTimeout(listingMs);
        return queue.run(signal);
      },
    };
  };
}

async function workOn(
  context: PartContext,
  collections: NetworkCollections,
  key: string,
  createDefault: boolean,
): Promise<WorkOutcome> {
  // An object that is not listed yet is not missing, and a network without a listed user is not unused.
  if (!collections.complete) return { kind: "again", afterMs: incompleteMs };
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
  if (made.kind === "absent") return { kind: "again", afterMs: absentMs };
  return made.kind === "conflict" ? { kind: "done" } : outcomeOf(made);
}
