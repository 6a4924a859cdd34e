// The provider of a PodNetwork (KEP-3698, "Provider"), and the kinds of objects that can be its parameters.

import type { ParametersRef } from "./objects.ts";

/** The provider of PodNetworks that Plexus implements. */
export const ownProvider = "k8s.cni.cncf.io/plexus";

/** The provider in the KEP's example: its parameters are NetworkAttachmentDefinitions, too. */
const acceptedProviders: readonly string[] = [ownProvider, "k8s.cni.cncf.io/multus"];

/** Kinds as the KEP's example writes them (the resource's name) and as Kubernetes calls them. */
const definitionKinds: readonly string[] = ["network-attachment-definitions", "NetworkAttachmentDefinition"];

/**
 * Whether Plexus implements the PodNetwork. The KEP leaves an empty provider to the implementations; Plexus takes it as its own, so that the
 * KEP's shortest example works. Objects of other providers stay untouched (KE-10).
 */
export function isOwnProvider(provider: string): boolean {
  return provider === "" || acceptedProviders.includes(provider);
}

/** Whether the reference names a NetworkAttachmentDefinition. */
export function isDefinitionRef({ group, kind }: ParametersRef): boolean {
  return group === "k8s.cni.cncf.io" && definitionKinds.includes(kind);
}

/** Why the reference cannot be a parameter of Plexus' networks; undefined if it can. `what` names it: `parametersRefs[0]`. */
export function refProblem(ref: ParametersRef, what: string, ownNamespace: string): string | undefined {
  if (!isDefinitionRef(ref)) {
    return `${what} names the kind ${ref.kind} of ${ref.group}; Plexus' parameters are network-attachment-definitions of k8s.cni.cncf.io`;
  }
  if (ref.namespace === "" && ownNamespace === "") return `${what} has no namespace: network-attachment-definitions have one`;
  return undefined;
}

/** The definition that a reference names. A PodNetworkAttachment's reference without a namespace means the attachment's own. */
export function definitionOf(ref: ParametersRef, ownNamespace: string): { readonly namespace: string; readonly name: string } {
  return { namespace: ref.namespace === "" ? ownNamespace : ref.namespace, name: ref.name };
}
