// Which namespaces' definitions a pod may select (NPWG 7.4; Multus' `namespaceIsolation` and `globalNamespaces`).

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { quote } from "../json/quote.ts";
import { labelProblem } from "./object-names.ts";

export interface NamespacePolicy {
  /** Whether a pod is restricted to its own namespace's definitions. */
  readonly isolated: boolean;
  /** Namespaces whose definitions every pod may select all the same. */
  readonly global: ReadonlySet<string>;
}

/** What of a pod's names the definition. The cluster's own default network is no pod's choice, and not restricted. */
export type SelectedAs = "network" | "default network";

/** Multus' default: definitions in the namespace "default" are everybody's. */
const globalByDefault = "default";

/**
 * Reads `globalNamespaces`, a comma list: absent means "default", the empty text no namespace at all (MC-11). Fault
 * CONFIG_INVALID for a name that no namespace can have.
 */
export function readGlobalNamespaces(text: string | undefined): Result<ReadonlySet<string>> {
  const names = (text ?? globalByDefault).split(",").map((each) => each.trim());
  const own = names.length === 1 && names[0] === "" ? [] : names;
  for (const name of own) {
    const problem = labelProblem(name);
    if (problem !== undefined) {
      return failed(fault("CONFIG_INVALID", `globalNamespaces: ${quote(name, 60)} ${problem}`));
    }
  }
  return ok(new Set(own));
}

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
  if (!policy.isolated || namespace === podNamespace || policy.global.has(namespace)) return ok(undefined);
  const global = [...policy.global].join(", ") || "none";
  return failed(
    fault(
      "NETWORK_FORBIDDEN",
      `a pod of namespace ${podNamespace} may not have ${as} ${namespace}/${name}: namespaceIsolation is on, and ${namespace} is not among globalNamespaces (${global})`,
    ),
  );
}
