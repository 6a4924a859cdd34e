// Whether a pod's networks are ready (KEP-3698, "Active validations"): the check that the KEP gives to the scheduler, with one message for the pod's
// condition, the Event, and the error of an ADD.

import { reasonOf } from "./conditions.ts";
import { isTrue, type PodNetwork, type PodNetworkAttachment } from "./objects.ts";
import { defaultPodNetwork, type PodNetworkEntry } from "./pod-networks.ts";
import { isOwnProvider } from "./provider.ts";

/** Finds an object of the API by name; undefined if there is none. */
export interface NetworkLookup {
  readonly network: (name: string) => PodNetwork | undefined;
  /** An attachment of the pod's namespace. */
  readonly attachment: (name: string) => PodNetworkAttachment | undefined;
}

/** The first reason why the pod must wait; undefined if all networks are ready. */
export function waitReason(entries: readonly PodNetworkEntry[], { network, attachment }: NetworkLookup): string | undefined {
  const used = new Map<string, string>();
  for (const entry of entries) {
    const through = entry.kind === "PodNetworkAttachment" ? attachment(entry.name) : undefined;
    const name = entry.kind === "PodNetwork" ? entry.name : through?.podNetworkName;
    if (name === undefined) return `PodNetworkAttachment "${entry.name}" not found`;
    const reason = networkReason(network(name), name) ?? (through && attachmentReason(through));
    if (reason !== undefined) return reason;
    // The rule of one use for each pod holds through attachments, too (KE-26).
    const source = `${entry.kind} "${entry.name}"`;
    const earlier = used.get(name);
    if (earlier !== undefined) return `PodNetwork "${name}" is used twice: by ${earlier} and by ${source}`;
    used.set(name, source);
  }
  for (const { kind, name } of entries) {
    const through = kind === "PodNetworkAttachment" ? attachment(name) : undefined;
    const reason = parametersReason(network(through?.podNetworkName ?? name), through);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** Why the network has nothing to attach; undefined if it has. The KEP lets a PodNetwork without parameters be Ready. */
function parametersReason(network: PodNetwork | undefined, through: PodNetworkAttachment | undefined): string | undefined {
  if (network === undefined || network.name === defaultPodNetwork) return undefined;
  if (network.parametersRefs.length > 0 || (through !== undefined && through.parametersRefs.length > 0)) return undefined;
  const remedy = "replace it by one that names a NetworkAttachmentDefinition";
  return `PodNetwork "${network.name}" has no parametersRefs, so that there is nothing to attach: ${remedy}`;
}

/** Why no new pod may be attached to the network; undefined if pods may. */
export function networkReason(network: PodNetwork | undefined, name: string): string | undefined {
  if (network === undefined) return `PodNetwork "${name}" not found`;
  // The specification counts before the controller has written the condition.
  if (!network.enabled) return `PodNetwork "${name}" is not Ready: AdministrativelyDisabled: spec.enabled is false`;
  if (network.isDeleted) return `PodNetwork "${name}" is being deleted`;
  if (!isOwnProvider(network.provider)) return `PodNetwork "${name}" belongs to the provider ${network.provider}, not to Plexus`;
  // The specification alone decides about the default network without parameters. Every pod needs it, also while no controller runs.
  if (name === defaultPodNetwork && network.parametersRefs.length === 0) return undefined;
  return isTrue(network, "Ready") ? undefined : `PodNetwork "${name}" is not Ready${reasonOf(network)}`;
}

/** Why no new pod may use the attachment; undefined if pods may. */
export function attachmentReason(attachment: PodNetworkAttachment): string | undefined {
  const name = `PodNetworkAttachment "${attachment.name}"`;
  if (attachment.isDeleted) return `${name} is being deleted`;
  return isTrue(attachment, "Ready") ? undefined : `${name} is not Ready${reasonOf(attachment)}`;
}
