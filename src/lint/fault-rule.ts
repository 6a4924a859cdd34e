// The rule of a fault with which a call would fail.

import type { FaultKind } from "../fault/catalogue.ts";
import type { LintRuleId } from "./rules.ts";

const rules: Partial<Readonly<Record<FaultKind, LintRuleId>>> = {
  STORE_FAILED: "unreadable-file",
  CLUSTER_UNREADABLE: "unreadable-file",
  CONFIG_NOT_JSON: "unreadable-configuration",
  CONFIG_INVALID: "unreadable-configuration",
  FIELD_UNSUPPORTED: "plexus-configuration",
  NETWORK_INVALID: "invalid-definition",
  NETWORK_NOT_FOUND: "invalid-definition",
  NETWORK_FORBIDDEN: "forbidden-by-policy",
  DEFINITION_FORBIDDEN: "forbidden-by-policy",
  PLUGIN_NOT_FOUND: "unknown-plugin",
  VERSION_UNSUPPORTED: "unsupported-version",
  CAPABILITY_NOT_GRANTED: "missing-grant",
  COMPONENT_REFUSED: "refused-component",
  COMPONENT_DIGEST_DIFFERS: "unmet-demand",
  COMPONENT_REQUIREMENT_UNMET: "unmet-demand",
  SIGNATURE_MISSING: "unmet-demand",
  SIGNATURE_INVALID: "unmet-demand",
  SIGNATURE_KEY_UNUSABLE: "unmet-demand",
};

/** The rule of a fault's kind. */
export function ruleOfFault(kind: FaultKind): LintRuleId {
  return rules[kind] ?? "would-not-load";
}
