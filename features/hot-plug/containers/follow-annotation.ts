// Attaches and detaches networks of a running pod until they are those of its annotation. The annotation has the wanted networks, the journal the present
// ones. Detaching comes first and needs no definition; attaching is a second step in a call of the verb ADD, which refuses a mistaken configuration.

import { fault, type Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { PodEvent } from "../../../src/kube/pod-event.ts";
import { type Difference, hotPlugDifference, type SelectedAttachment } from "../../../src/npwg/hot-plug-difference.ts";
import type { NetworkSelection } from "../../../src/npwg/network-selection.ts";
import { networksAnnotation, parseSelection } from "../../../src/npwg/selection.ts";
import type { Cluster, Pod } from "../../../host/cluster/cluster.ts";
import type { JournalEntry } from "../../../host/store/journal/entry.ts";
import type { JournalKey } from "../../../host/store/journal/entry-file.ts";
import type { Call } from "../../../host/engine/call.ts";
import { podIdentity } from "../../../src/kube/pod-identity.ts";
import { profileOf } from "../../../src/npwg/profile.ts";
import { addedInterface } from "../../../host/engine/verbs/publish-status.ts";
import { selectedOrigin } from "../../../host/engine/planned/attachment-plan.ts";
import { attachToContainer, detachFromContainer } from "./change-container.ts";
import { judgeReplacement, keepsDefaultRoute } from "./judge-replacement.ts";
import { planAddition, type WantedAddition } from "./plan-addition.ts";
import { isWhole, type RunningContainer, runningContainer } from "./running-container.ts";

/** A pod of the cluster, with the networks that its annotation selects now. */
export interface SelectingPod {
  readonly cluster: Cluster;
  readonly pod: Pod;
  readonly wanted: readonly NetworkSelection[];
}

/** The result of one step. */
export interface FollowOutcome extends Completeness {
  /** `+net1 shop/storage` for each attachment that was made, `-net1 shop/storage` for each that was removed. */
  readonly changes: readonly string[];
  /** One fault for each attachment that could not be changed. */
  readonly faults: readonly Fault[];
}

/** Whether all selections of a pod are attached. */
interface Completeness {
  /** Whether selections have no attachment yet. */
  readonly incomplete: boolean;
}

/** Receives the Events about a pod. */
export type Tell = (event: PodEvent) => void;

/**
 * Reads the pod of the call, and its annotation; undefined if the call has no pod. An annotation with a mistake changes nothing: the pod keeps its
 * networks. Faults: SELECTION_INVALID, POD_NOT_FOUND, and those of the API.
 */
export async function selectingPod(call: Call): Promise<Result<SelectingPod | undefined>> {
  const identity = podIdentity(call.request.args);
  if (!identity.ok) return identity;
  const cluster = await call.cluster();
  if (cluster === undefined || identity.value === undefined) return ok(undefined);
  const { namespace, name, uid } = identity.value;
  const pod = await cluster.pod(namespace, name, { uid });
  if (!pod.ok) return pod;
  const profile = { ...profileOf(call.configuration), invalidAnnotation: "fail" as const };
  const selection = parseSelection(pod.value.annotations.get(networksAnnotation), namespace, profile);
  return selection.ok ? ok({ cluster, pod: pod.value, wanted: selection.value.networks }) : selection;
}

/**
 * The interfaces of attachments whose requests have changed and whose replacements would not be refused. Only these are detached before their replacements are
 * attached. The call must be an ADD. Faults: as of `detachUnselected`.
 */
export async function replaceableInterfaces(
  call: Call,
  key: JournalKey,
  { cluster, pod, wanted }: SelectingPod,
): Promise<Result<ReadonlySet<string>>> {
  const replaceable = new Set<string>();
  const judged = await underLock(call, key, async () => {
    const entry = call.journal.load(key);
    if (!entry.ok || entry.value === undefined) return entry;
    const changed = differenceOf(wanted, entry.value).attach.filter(({ replaces }) => replaces !== undefined);
    if (changed.length === 0) return ok(undefined);
    const container = await runningContainer(call, key);
    if (!container.ok) return failed(container.fault);
    for (const { selection, index, replaces = "" } of changed) {
      const addition = { selection, index, requestedNames: requestedNames(wanted), podNamespace: pod.namespace };
      const allowed = await judgeReplacement(call, cluster, container.value, replaces, addition);
      if (allowed.ok) replaceable.add(replaces);
    }
    return ok(undefined);
  });
  return judged.ok ? ok(replaceable) : judged;
}

/**
 * Detaches the attachments that the annotation no longer selects, and those that broke off. An attachment whose requests have changed is detached only if it
 * is in `replaceable`, and one with the pod's default route never. Takes the container's lock for each, so that the
 * runtime's DEL can come between. Faults: HOT_PLUG_REFUSED, HOT_PLUG_UNAVAILABLE, CALL_BUSY; those of plugins are in the outcome.
 */
export async function detachUnselected(
  call: Call,
  key: JournalKey,
  wanted: readonly NetworkSelection[],
  replaceable: ReadonlySet<string>,
  tell: Tell,
): Promise<Result<FollowOutcome>> {
  const tried = new Set<string>();
  return stepwise(call, key, (entry) => {
    const { detach, attach } = differenceOf(wanted, entry);
    const kept = new Set(
      attach.flatMap(({ replaces }) => (replaces === undefined || replaceable.has(replaces) ? [] : [replaces])),
    );
    const ifname = [...brokenRequests(entry), ...detach].find((each) => !tried.has(each) && !kept.has(each));
    if (ifname === undefined) return { incomplete: attach.length > 0 };
    tried.add(ifname);
    const present = entry.plan.attachments.find((each) => each.ifname === ifname);
    const refusal = present && keepsDefaultRoute(present);
    if (refusal !== undefined) {
      tell({ reason: "InterfaceRemoveFailed", message: refusal.msg });
      return async () => failed(refusal);
    }
    return async (container) => {
      const index = container.entry.plan.attachments.findIndex((each) => each.ifname === ifname);
      const source = container.entry.plan.attachments[index]?.source ?? "";
      const detached = await detachFromContainer(call, container.entry, index);
      if (detached.ok) tell({ reason: "RemovedInterface", message: `Remove ${ifname} from ${source}` });
      else tell({ reason: "InterfaceRemoveFailed", message: detached.fault.msg });
      return detached.ok ? ok(`-${ifname} ${source}`) : detached;
    };
  });
}

/**
 * Attaches the selections that have no attachment, as `detachUnselected` detaches. The call must be an ADD. A selection whose broken attachment
 * could not be removed waits, and so does the replacement of an attachment that stays.
 */
export async function attachSelected(
  call: Call,
  key: JournalKey,
  { cluster, pod, wanted }: SelectingPod,
  tell: Tell,
): Promise<Result<FollowOutcome>> {
  const tried = new Set<NetworkSelection>();
  return stepwise(call, key, (entry) => {
    const { attach } = differenceOf(wanted, entry);
    const next = attach.find(({ selection, ifname }) => ifname === undefined && !tried.has(selection));
    if (next === undefined) return { incomplete: attach.length > 0 };
    const { selection, index, replaces } = next;
    tried.add(selection);
    return async (container) => {
      const addition = { selection, index, requestedNames: requestedNames(wanted), podNamespace: pod.namespace };
      const plan =
        replaces === undefined
          ? await planAddition(call, cluster, container, addition)
          : await whyNotReplaced(call, cluster, container, replaces, addition);
      const origin = selectedOrigin(selection);
      const attached = plan.ok ? await attachToContainer(call, container, plan.value, origin, { cluster, pod, tell }) : plan;
      if (!attached.ok) {
        tell({ reason: "InterfaceAddFailed", message: attached.fault.msg });
        return attached;
      }
      tell(addedInterface(attached.value));
      return ok(`+${attached.value.plan.attachment.ifname} ${attached.value.plan.source}`);
    };
  });
}

/** The fault of a replacement whose predecessor was kept. */
async function whyNotReplaced(
  call: Call,
  cluster: Cluster,
  container: RunningContainer,
  replaces: string,
  addition: WantedAddition,
): Promise<Result<never>> {
  const judged = await judgeReplacement(call, cluster, container, replaces, addition);
  if (!judged.ok) return judged;
  const source = `${addition.selection.namespace}/${addition.selection.name}`;
  return failed(fault("HOT_PLUG_UNAVAILABLE", `network ${source} as ${replaces} is replaced at the next comparison`));
}

function requestedNames(wanted: readonly NetworkSelection[]): readonly string[] {
  return wanted.flatMap((each) => each.interface ?? []);
}

/** Makes one change; answers its description. */
type Change = (container: RunningContainer) => Promise<Result<string>>;

/**
 * Makes changes, each under the container's lock, until `next` answers that none is left. Without a difference the container is not read.
 */
async function stepwise(
  call: Call,
  key: JournalKey,
  next: (entry: JournalEntry) => Change | Completeness,
): Promise<Result<FollowOutcome>> {
  const changes: string[] = [];
  const faults: Fault[] = [];
  for (;;) {
    const step = await underLock<Completeness | Result<string>>(call, key, async () => {
      const entry = call.journal.load(key);
      if (!entry.ok) return entry;
      // The runtime's DEL came before.
      const change = entry.value === undefined ? { incomplete: false } : next(entry.value);
      if (typeof change !== "function") return ok(change);
      const container = await runningContainer(call, key);
      return container.ok ? ok(await change(container.value)) : failed(container.fault);
    });
    if (!step.ok) return step;
    const made = step.value;
    if ("incomplete" in made) return ok({ changes, faults, incomplete: made.incomplete });
    if (made.ok) changes.push(made.value);
    else faults.push(made.fault);
  }
}

/** Runs `work` under the container's lock. */
export async function underLock<T>({ locks }: Call, key: JournalKey, work: () => Promise<Result<T>>): Promise<Result<T>> {
  const held = await locks.container(key);
  if (!held.ok) return held;
  try {
    return await work();
  } finally {
    held.value();
  }
}

function differenceOf(wanted: readonly NetworkSelection[], { plan, progress }: JournalEntry): Difference {
  const attached = plan.attachments.flatMap(({ ifname, source, hotPlug }, index): SelectedAttachment[] => {
    const state = progress[index];
    const selected = hotPlug?.selected;
    if (index === 0 || selected === undefined || state === undefined) return [];
    return [{ ifname, source, interface: selected.interface, requests: selected.requests, whole: isWhole(state) }];
  });
  return hotPlugDifference(wanted, attached);
}

/** Interfaces that a request for the container made or removed, and that broke off: the caller of the request repeats it if it is still wanted. */
function brokenRequests({ plan, progress }: JournalEntry): readonly string[] {
  return plan.attachments.flatMap(({ ifname, hotPlug }, index) => {
    const state = progress[index];
    return hotPlug?.requested !== undefined && state !== undefined && !isWhole(state) ? [ifname] : [];
  });
}
