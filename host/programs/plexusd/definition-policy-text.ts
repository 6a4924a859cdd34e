// The policy of a configuration for definitions, in words.

import { trustsEverybody } from "../../../src/configuration/definition-policy.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";

/** A clause about the policy for definitions. */
export function definitionPolicyText({ profile, definitions }: Pick<HostConfiguration, "profile" | "definitions">): string {
  const { trusted, rules } = definitions;
  if (trustsEverybody({ trusted })) {
    const why = profile === "multus" ? "profile multus" : "definitions.trusted has *";
    return `every definition may run every plugin as root (${why})`;
  }
  const namespaces = trusted.length === 0 ? "no namespace" : trusted.join(", ");
  return `definitions of ${namespaces} are trusted, all others are bound by ${rules.length} rules`;
}
