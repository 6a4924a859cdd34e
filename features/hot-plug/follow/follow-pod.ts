// One comparison of a pod's annotation with the journal: detaches, attaches, and writes the pod's network status.

import type { Fault } from "../../../src/fault/fault.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import type { PodEvent } from "../../../src/kube/pod-event.ts";
import { selectsOtherNetworks } from "../../../src/npwg/hot-plug-difference.ts";
import type { Call } from "../../../host/engine/call.ts";
import { podIdentity } from "../../../src/kube/pod-identity.ts";
import {
  attachSelected,
  detachUnselected,
  type FollowOutcome,
  replaceableInterfaces,
  type SelectingPod,
  selectingPod,
  type Tell,
  underLock,
} from "../containers/follow-annotation.ts";
import { runningContainer } from "../containers/running-container.ts";
import { publishFromJournal } from "../containers/status-from-journal.ts";
import type { ListedEntry } from "../../../host/node/reconcile/entry-list.ts";
import type { ContainerCalls } from "./container-calls.ts";

/** The changes of one comparison, and the faults of what could not be changed. */
export interface Followed {
  readonly changes: readonly string[];
  readonly faults: readonly Fault[];
}

/** Compares and changes one pod. `isNews`: whether an Event with this message about a failure has not been sent yet. */
export async function followPod(
  calls: ContainerCalls,
  { key, entry }: ListedEntry,
  isNews: (message: string) => boolean,
): Promise<Followed> {
  const changes: string[] = [];
  const faults: Fault[] = [];
  let replaceable: ReadonlySet<string> = new Set();
  const note = (outcome: Result<FollowOutcome>): boolean => {
    changes.push(...(outcome.ok ? outcome.value.changes : []));
    faults.push(...(outcome.ok ? outcome.value.faults : [outcome.fault]));
    return outcome.ok && outcome.value.incomplete;
  };
  const change = (verb: "ADD" | "DEL", step: typeof detach | typeof attach): Promise<Result<boolean>> =>
    calls.run(entry.plan, verb, async (call) => {
      const selecting = await selectingPod(call);
      // The pod is gone, or another one has its name: the runtime's DEL removes its networks.
      if (!selecting.ok && selecting.fault.kind === "POD_NOT_FOUND") return ok(false);
      if (!selecting.ok) {
        await tellOfPod(call, selecting.fault, isNews);
        return selecting;
      }
      if (selecting.value === undefined) return ok(false);
      const { cluster, pod } = selecting.value;
      const tell: Tell = (event) => {
        if (!event.reason.endsWith("Failed") || isNews(event.message)) cluster.tell(pod, event);
      };
      const outcome = await step(call, selecting.value, tell);
      if (!outcome.ok && outcome.fault.kind === "HOT_PLUG_REFUSED") {
        tell({ reason: "InterfaceAddFailed", message: outcome.fault.msg });
      }
      const incomplete = note(outcome);
      // The status is written once: after the attachments, if any is missing.
      if (incomplete && verb === "DEL") return ok(true);
      const published = await publishFromJournal(call, key, cluster, pod);
      if (!published.ok) faults.push(published.fault);
      return ok(incomplete);
    });
  const detach = (call: Call, { wanted }: SelectingPod, tell: Tell): Promise<Result<FollowOutcome>> =>
    detachUnselected(call, key, wanted, replaceable, tell);
  /** Without an answer, such as for a configuration that an ADD refuses, no attachment is replaced. */
  const judged = async (): Promise<ReadonlySet<string>> => {
    let interfaces: ReadonlySet<string> = new Set();
    await calls.run(entry.plan, "ADD", async (call) => {
      const selecting = await selectingPod(call);
      if (!selecting.ok || selecting.value === undefined) return ok(undefined);
      const found = await replaceableInterfaces(call, key, selecting.value);
      if (found.ok) interfaces = found.value;
      return ok(undefined);
    });
    return interfaces;
  };
  const attach = (call: Call, selecting: SelectingPod, tell: Tell): Promise<Result<FollowOutcome>> =>
    attachSelected(call, key, selecting, tell);

  let detached = await change("DEL", detach);
  if (detached.ok && detached.value) {
    replaceable = await judged();
    if (replaceable.size > 0) detached = await change("DEL", detach);
  }
  const attached = detached.ok && detached.value ? await change("ADD", attach) : detached;
  if (!attached.ok) faults.push(attached.fault);
  return { changes, faults };
}

/**
 * Tells the author of a pod that was attached without the key `hotPlug` that its networks do not follow the annotation. `changed`: whether a change of
 * the annotation was seen; without one the networks themselves are compared. Answers the refusal, which is lasting; `off` if the configuration that
 * the daemon keeps does not have the key.
 */
export async function refuseToFollow(
  calls: ContainerCalls,
  { key, entry }: ListedEntry,
  changed: boolean,
  isNews: (message: string) => boolean,
): Promise<Followed | "off"> {
  let isOff = false;
  const refused = await calls.run(entry.plan, "DEL", async (call) => {
    isOff = !call.configuration.hotPlug;
    if (isOff) return ok(undefined);
    const selecting = await selectingPod(call);
    // The ADD refused or passed over a mistake that has been there since; a pod that is gone gets its DEL.
    if (!selecting.ok) return selecting.fault.kind === "POD_NOT_FOUND" || !changed ? ok(undefined) : selecting;
    if (selecting.value === undefined) return ok(undefined);
    const { cluster, pod, wanted } = selecting.value;
    const isOfFeature = call.features.some(({ networks }) => networks?.ownsNetworksOf(pod) === true);
    const attached = entry.plan.attachments.slice(1).map(({ source, definition }) => {
      return { source, isSelected: definition !== undefined && !isOfFeature };
    });
    if (!changed && !selectsOtherNetworks(wanted, attached)) return ok(undefined);
    const container = await underLock(call, key, () => runningContainer(call, key));
    if (container.ok) return ok(undefined);
    const { kind, msg } = container.fault;
    if (kind !== "HOT_PLUG_REFUSED") return container;
    if (isNews(msg))
      cluster.tell(pod, { reason: wanted.length > 0 ? "InterfaceAddFailed" : "InterfaceRemoveFailed", message: msg });
    return container;
  });
  return isOff ? "off" : { changes: [], faults: refused.ok ? [] : [refused.fault] };
}

/** Tells the pod's author of a mistake in the annotation. The pod's objects could not be read as a whole, so its name comes from the runtime. */
async function tellOfPod(call: Call, cause: Fault, isNews: (message: string) => boolean): Promise<void> {
  const identity = podIdentity(call.request.args);
  if (cause.kind !== "SELECTION_INVALID" || !identity.ok || identity.value === undefined || !isNews(cause.msg)) return;
  const event: PodEvent = { reason: "InterfaceAddFailed", message: cause.msg };
  const cluster = await call.cluster();
  cluster?.tell(identity.value, event);
}
