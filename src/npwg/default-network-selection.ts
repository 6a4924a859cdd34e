// Multus' annotation that gives one pod another default network than the cluster's (MA-01).

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import type { NetworkSelection, PodSelection } from "./network-selection.ts";
import type { NpwgProfile } from "./profile.ts";
import { parseSelection } from "./selection.ts";

/** The annotation's key. */
export const defaultNetworkAnnotation = "v1.multus-cni.io/default-network";

export interface DefaultNetworkSelection {
  readonly network: NetworkSelection;
  readonly warnings: PodSelection["warnings"];
}

/**
 * Reads the annotation: the forms of the selection annotation with exactly one element; a name without a namespace is in
 * `namespace` (Multus' `multusNamespace`). Absent text answers undefined; text that is there and selects nothing is a
 * mistake, and no mistake is ever ignored: the pod would come up on another network than it asks for. Fault SELECTION_INVALID.
 */
export function parseDefaultNetwork(
  text: string | undefined,
  namespace: string,
  profile: NpwgProfile,
): Result<DefaultNetworkSelection | undefined> {
  if (text === undefined) return ok(undefined);
  const failing: NpwgProfile = { ...profile, invalidAnnotation: "fail", multusSelection: true };
  const selection = parseSelection(text, namespace, failing, defaultNetworkAnnotation);
  if (!selection.ok) return selection;
  const { networks, warnings } = selection.value;
  const [network] = networks;
  if (network !== undefined && networks.length === 1) return ok({ network, warnings });
  return failed(
    fault(
      "SELECTION_INVALID",
      `annotation ${defaultNetworkAnnotation} must select exactly one network, but selects ${networks.length}`,
    ),
  );
}
