// The namespaces whose definitions a pod may select (NPWG 7.4; Multus' `namespaceIsolation` and `globalNamespaces`).

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";

/** The relevant part of the host configuration. */
export interface NamespacePolicy {
  /** Whether a pod may only use definitions of its own namespace. */
  readonly namespaceIsolation: boolean;
  /** Namespaces whose definitions every pod may select nevertheless; may be empty (MC-11). */
  readonly globalNamespaces: readonly string[];
}

/** The pod's use of the definition. The cluster's own default network is not the pod's choice, and not restricted. */
export type SelectedAs = "network" | "default network";

/**
 * Checks a definition that a pod selects as a secondary network or as its own default network. Fault NETWORK_FORBIDDEN names the
 * rule and the remedy. The definition itself has not been read, so the fault reveals nothing about it.
 */
export function checkNamespace(
  policy: NamespacePolicy,
  podNamespace: string,
  selected: { readonly namespace: string; readonly name: string },
  as: SelectedAs,
): Result<void> {
  const { namespace, name } = selected;
  const { namespaceIsolation, globalNamespaces } = policy;
  if (!namespaceIsolation || namespace === podNamespace || globalNamespaces.includes(namespace)) return ok(undefined);
  const global = globalNamespaces.join(", ") || "none";
  return failed(
    fault(
      "NETWORK_FORBIDDEN",
      `a pod of namespace ${podNamespace} may not use ${as} ${namespace}/${name}: namespaceIsolation is on, and ${namespace} is not among globalNamespaces (${global})`,
    ),
  );
}
