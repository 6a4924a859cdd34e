// Multus' annotation that replaces the cluster's default network for one pod (MA-01).

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import type { NetworkSelection, PodSelection } from "./network-selection.ts";
import type { NpwgProfile } from "./profile.ts";
import { parseSelection } from "./selection.ts";

/** The annotation's key. */
export const defaultNetworkAnnotation = "v1.multus-cni.io/default-network";

/** The definition that replaces the default network. */
export interface DefaultNetworkSelection {
  readonly network: NetworkSelection;
  readonly warnings: PodSelection["warnings"];
}

/**
 * Reads the annotation, which has the forms of the selection annotation with exactly one element. A name without a namespace
 * refers to `namespace` (Multus' `multusNamespace`). Absent text gives undefined. Text that selects nothing is a mistake, and
 * mistakes are never ignored: the pod would start on another network than it requested. Fault SELECTION_INVALID.
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
