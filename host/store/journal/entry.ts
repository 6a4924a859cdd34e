// The content of a journal entry for one call of the runtime: enough to undo every attempted attachment byte for byte, with the
// API down, the definition deleted and the host restarted (CNI section 3: a configuration must not change between ADD and DEL).

import type { DefinitionName } from "../../../src/configuration/definition-policy.ts";
import type { FailedStep, PassedOverStep } from "../../../src/cni/failed-step.ts";
import type { Family } from "../../../src/net/ip.ts";
import type { LinkIdentity } from "../../../src/pod-link/link-identity.ts";

/** One planned attachment, before its first step. */
export interface PlannedAttachment {
  /** The network's name in its plugins' configuration. */
  readonly network: string;
  readonly ifname: string;
  /** Source of the configuration: `default`, or `namespace/name` of the NetworkAttachmentDefinition. */
  readonly source: string;
  /** The planned configuration list. Empty: the default network's current configuration at the time of the undo. */
  readonly conflist: string;
  /** Capability arguments: name to raw JSON text. */
  readonly capabilityArgs: Readonly<Record<string, string>>;
  /** `CNI_ARGS` of its plugins, if they differ from the call's. */
  readonly cniArgs?: string;
  /** The definition whose policy binds the network. Absent in a network that the administrator configured or trusts. */
  readonly definition?: DefinitionName;
  /** Its PodNetwork (KEP-3698); absent if the network is not one. */
  readonly podNetwork?: string;
  /** The device of a resource claim that the attachment uses; absent without one. */
  readonly claim?: ClaimedDevice;
  /** Present if the key `hotPlug` was on: the facts that a change of the running pod needs. */
  readonly hotPlug?: HotPlugFacts;
}

/** A device that a resource claim has allocated (resource.k8s.io/v1, AllocatedDeviceStatus). */
export interface ClaimedDevice {
  /** The claim. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly pool: string;
  readonly device: string;
  /** The share of a device that several claims have; empty for the device itself. */
  readonly shareId: string;
}

/** The origin of an attachment, for the comparison with the pod's annotation. */
export interface AttachmentOrigin {
  /** The pod's annotation selected it; the members are those of `SelectedAttachment`. */
  readonly selected?: { readonly interface?: string; readonly requests: string };
  /** The request by which the network was attached to the running container, as `requestsText` prints it. */
  readonly requested?: string;
}

/** The facts about an attachment from which a running pod's networks are compared with its annotation, and its network status is written anew. */
export interface HotPlugFacts extends AttachmentOrigin {
  /** The name in the network status; absent if the status has no entry for it. */
  readonly statusName?: string;
  /** The selection's `default-route`. */
  readonly defaultRoute?: readonly string[];
  /** Its PodNetwork (KEP-3698), and the families whose default gateway the pod requested from it. */
  readonly podNetwork?: string;
  readonly gatewayOf?: readonly Family[];
}

/** The first line of an entry: the call, and all attachments that will be attempted, in order. */
export interface JournalPlan {
  readonly kind: "plexusJournalV1";
  readonly containerId: string;
  /** Name of the network configuration with which the runtime called. */
  readonly network: string;
  readonly ifname: string;
  readonly netns: string;
  /** The call's `CNI_ARGS`. */
  readonly cniArgs: string;
  readonly cniPath: string;
  /** The kernel's boot id: after a restart the entry's network namespace is gone. */
  readonly bootId: string;
  /** Start of the ADD, ISO 8601; absent if a DEL without an entry made this plan. */
  readonly begun?: string;
  /** True if only the configuration suggests that attachments may exist: such an entry merely counts DELs. */
  readonly assumed?: true;
  readonly attachments: readonly PlannedAttachment[];
}

/** Progress of one attachment. */
export interface AttachmentProgress {
  readonly attempted: boolean;
  /** Raw JSON of the chain's final result, if it succeeded. */
  readonly result?: string;
  /** Where its ADD failed in a step that reported an error. */
  readonly failedStep?: FailedStep;
  /** The steps that its ADD passed over; absent without any. */
  readonly passedOver?: readonly PassedOverStep[];
  /** Present from the beginning of its removal from a running container. */
  readonly detaching?: true;
  readonly undone: boolean;
}

/** An entry: its plan, and the state after its records. */
export interface JournalEntry {
  readonly plan: JournalPlan;
  /** One element for each attachment of the plan. */
  readonly progress: readonly AttachmentProgress[];
  /** True once the ADD was answered with success. */
  readonly closed: boolean;
  /** Failed DELs. */
  readonly failures: Failures;
  /** Present if the pod's network status is older than a change of the running container. */
  readonly statusDue?: true;
  /** Present if the network namespace was looked at. */
  readonly pod?: PodLinks;
}

/** The network namespace of an entry's container, and its links. */
export interface PodLinks {
  /** The namespace's cookie; absent where the kernel has none. */
  readonly cookie?: string;
  /** The links that the attachments made, from the end of the ADD on; absent in an ADD that broke off. */
  readonly made?: readonly LinkIdentity[];
  /** The links that had the name of an attachment before its ADD; absent without any. */
  readonly earlier?: readonly LinkIdentity[];
}

/** The failed DELs of an entry. */
export interface Failures {
  readonly count: number;
  /** Time of the first failure, ISO 8601. */
  readonly since: string | undefined;
}

/** A later line of an entry. */
export type JournalRecord =
  | { readonly attempted: number }
  | { readonly attached: number; readonly result: string }
  | ({ readonly addFailed: number } & FailedStep)
  | ({ readonly passedOver: number } & PassedOverStep)
  | { readonly undone: number }
  | { readonly detaching: number }
  | { readonly status: "due" | "written" }
  | { readonly closed: true }
  /** Replaces what an earlier such record says. */
  | { readonly pod: PodLinks }
  /** A failed DEL: time (ISO 8601) and reason. */
  | { readonly failed: string; readonly why: string };

/** The state after a plan and its records. */
export function replay(plan: JournalPlan, records: readonly JournalRecord[]): JournalEntry {
  const progress: AttachmentProgress[] = plan.attachments.map(() => ({ attempted: false, undone: false }));
  let closed = false;
  let failures: Failures = { count: 0, since: undefined };
  let statusDue = false;
  let pod: PodLinks | undefined;
  for (const record of records) {
    if ("failed" in record) {
      failures = { count: failures.count + 1, since: failures.since ?? record.failed };
      continue;
    }
    if ("closed" in record) {
      closed = true;
      continue;
    }
    if ("status" in record) {
      statusDue = record.status === "due";
      continue;
    }
    if ("pod" in record) {
      pod = record.pod;
      continue;
    }
    const index = indexOf(record);
    const before = progress[index];
    if (before === undefined) continue;
    if ("addFailed" in record) {
      const { step, code, msg, notBegun } = record;
      const failedStep = { step, code, msg, ...(notBegun === true ? { notBegun } : {}) };
      progress[index] = { ...before, attempted: true, failedStep };
    } else if ("passedOver" in record) {
      const { step, cleaned, code, msg } = record;
      const passedOver = [...(before.passedOver ?? []), { step, cleaned, code, msg }];
      progress[index] = { ...before, attempted: true, passedOver };
    } else if ("detaching" in record) progress[index] = { ...before, detaching: true };
    else if ("attempted" in record) progress[index] = { ...before, attempted: true };
    else if ("attached" in record) progress[index] = { ...before, attempted: true, result: record.result };
    else progress[index] = { ...before, undone: true };
  }
  return { plan, progress, closed, failures, ...(statusDue ? { statusDue } : {}), ...(pod === undefined ? {} : { pod }) };
}

/** Index in the plan of the attachment that a record is about. */
function indexOf(
  record: Exclude<
    JournalRecord,
    { readonly closed: true } | { readonly failed: string } | { readonly status: string } | { readonly pod: PodLinks }
  >,
): number {
  if ("addFailed" in record) return record.addFailed;
  if ("passedOver" in record) return record.passedOver;
  if ("attached" in record) return record.attached;
  if ("detaching" in record) return record.detaching;
  return "attempted" in record ? record.attempted : record.undone;
}
