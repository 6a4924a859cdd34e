// The policies for definitions of the node's configurations, as `plexusctl status` shows them. The daemon learns a configuration with
// a call.

import { type DefinitionPolicy, trustsEverybody } from "../../../src/configuration/definition-policy.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";

/** Maximum number of configurations that are remembered. A node has one or two. */
const maxConfigurations = 16;

/** The policy of each configuration that a call had. */
export class DefinitionPolicies {
  readonly #texts = new Map<string, string>();

  /** Remembers the policy of a call's configuration. */
  note({ name, profile, definitions }: Pick<HostConfiguration, "name" | "profile" | "definitions">): void {
    if (!this.#texts.has(name) && this.#texts.size >= maxConfigurations) return;
    this.#texts.set(name, `${name}: ${policyText(profile, definitions)}`);
  }

  /** One sentence for each configuration. */
  text(): string {
    return this.#texts.size === 0 ? "no call has come yet" : [...this.#texts.values()].join("; ");
  }
}

function policyText(profile: HostConfiguration["profile"], { trusted, rules }: DefinitionPolicy): string {
  if (trustsEverybody({ trusted })) {
    const why = profile === "multus" ? "profile multus" : "definitions.trusted has *";
    return `every definition may run every plugin as root (${why})`;
  }
  const namespaces = trusted.length === 0 ? "no namespace" : trusted.join(", ");
  return `definitions of ${namespaces} are trusted, all others are bound by ${rules.length} rules`;
}
