// Which namespaces' definitions a pod may select (NPWG 7.4; Multus' `namespaceIsolation` and `globalNamespaces`).

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";

/** The part of the host configuration that decides. */
export interface NamespacePolicy {
  /** Whether a pod is restricted to its own namespace's definitions. */
  readonly namespaceIsolation: boolean;
  /** Namespaces whose definitions every pod may select all the same; maybe none (MC-11). */
  readonly globalNamespaces: readonly string[];
}

/** What of a pod's names the definition. The cluster's own default network is no pod's choice, and not restricted. */
export type SelectedAs = "network" | "default network";

/**
 * Checks a definition that a pod selects, for a secondary network or for its own default network. Fault NETWORK_FORBIDDEN
 * names the rule and what would allow it; nothing of the definition was read, so it says nothing about what is there.
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
      `a pod of namespace ${podNamespace} may not have ${as} ${namespace}/${name}: namespaceIsolation is on, and ${namespace} is not among globalNamespaces (${global})`,
    ),
  );
}
