// Conditions and phases of PodNetworks and PodNetworkAttachments (KEP-3698, "Status Conditions" and "Lifecycle").

import { type Condition, judgedCondition, type Judgement } from "../../../src/kube/conditions.ts";
import { isTrue, type NetworkObject, type PodNetwork, type PodNetworkAttachment } from "./objects.ts";

/** Maximum length of a condition's message (metav1.Condition). */
const maxMessage = 32_768;

/** The conditions that Plexus writes. */
const ownTypes: readonly string[] = ["Ready", "ParamsReady"];

/** The phases of the KEP's lifecycle. */
export type Phase = "NotReady" | "Ready" | "InUse" | "Disabled";

/** The statements of a status about an object. */
export interface NetworkStatus {
  readonly conditions: readonly Condition[];
  readonly phase: Phase;
}

/** The state of an object's parameters: `problem` is undefined if all of them are usable. */
export interface ParametersState {
  readonly problem: string | undefined;
}

const good = (reason: string, message: string): Judgement => ({ status: "True", reason, message });
const bad = (reason: string, message: string): Judgement => ({ status: "False", reason, message: message.slice(0, maxMessage) });

/** The status of a PodNetwork. `users`: whether a pod or an attachment uses it. `now`: RFC 3339. */
export function podNetworkStatus(network: PodNetwork, parameters: ParametersState, users: boolean, now: string): NetworkStatus {
  const hasRefs = network.parametersRefs.length > 0;
  const ready = !network.enabled
    ? bad("AdministrativelyDisabled", "spec.enabled is false: no new pod is attached")
    : hasRefs && parameters.problem !== undefined
      ? bad("ParamsNotReady", parameters.problem)
      : good("Ready", "pods can be attached");
  return statusOf(network, { ready, parameters, users, disabled: !network.enabled, now });
}

/** The status of a PodNetworkAttachment. `network` is its PodNetwork; undefined if there is none of its name. */
export function attachmentStatus(
  attachment: PodNetworkAttachment,
  network: PodNetwork | undefined,
  parameters: ParametersState,
  users: boolean,
  now: string,
): NetworkStatus {
  const hasRefs = attachment.parametersRefs.length > 0;
  const { podNetworkName } = attachment;
  const ready =
    network === undefined
      ? bad("PodNetworkNotReady", `PodNetwork "${podNetworkName}" does not exist`)
      : !isTrue(network, "Ready")
        ? bad("PodNetworkNotReady", `PodNetwork "${podNetworkName}" is not Ready${reasonOf(network)}`)
        : hasRefs && parameters.problem !== undefined
          ? bad("ParamsNotReady", parameters.problem)
          : good("Ready", "pods can be attached");
  return statusOf(attachment, { ready, parameters, users, disabled: false, now });
}

/** `: REASON: message` of the condition Ready, for sentences; empty without one. */
export function reasonOf({ conditions }: NetworkObject): string {
  const ready = conditions.find(({ type }) => type === "Ready");
  return ready === undefined ? "" : `: ${ready.reason}: ${ready.message}`;
}

interface StatusInput {
  readonly ready: Judgement;
  readonly parameters: ParametersState;
  readonly users: boolean;
  readonly disabled: boolean;
  readonly now: string;
}

function statusOf(object: NetworkObject, { ready, parameters, users, disabled, now }: StatusInput): NetworkStatus {
  const params =
    parameters.problem === undefined
      ? good("ParametersValid", "all parametersRefs are usable")
      : bad("ParametersInvalid", parameters.problem);
  const conditions = [
    judgedCondition(object, "Ready", ready, now),
    ...(object.parametersRefs.length > 0 ? [judgedCondition(object, "ParamsReady", params, now)] : []),
    // Other programs' conditions stay: two writers that remove each other's would never end.
    ...object.conditions.filter(({ type }) => !ownTypes.includes(type)),
  ];
  const isReady = ready.status === "True";
  return { conditions, phase: disabled ? "Disabled" : !isReady ? "NotReady" : users ? "InUse" : "Ready" };
}

/** Whether the stored status says something else, apart from times. */
export function differs({ conditions, phase }: NetworkObject, next: NetworkStatus): boolean {
  if (phase !== next.phase || conditions.length !== next.conditions.length) return true;
  return next.conditions.some((each) => {
    const stored = conditions.find(({ type }) => type === each.type);
    return (
      stored === undefined ||
      stored.status !== each.status ||
      stored.reason !== each.reason ||
      stored.message !== each.message ||
      stored.observedGeneration !== each.observedGeneration
    );
  });
}
