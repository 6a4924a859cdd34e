// The configurations that runtimes' calls of a daemon have had, and the sentences about them in its status.

import { trustsEverybody } from "../../../src/configuration/definition-policy.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { nodeRequirementText } from "../../../src/configuration/requirement-text.ts";

/** Maximum number of configurations that are remembered. A node has one or two. */
const maxConfigurations = 16;

/** The configurations of one daemon's calls, by their names. The daemon learns a configuration with a call. */
export class NotedConfigurations {
  readonly #last = new Map<string, HostConfiguration>();

  /** Sentences about them, by their names in the status. */
  readonly sentences: readonly { readonly name: string; readonly sentence: () => string }[] = [
    { name: "definitions", sentence: () => this.#describe(definitionPolicyText) },
    { name: "components", sentence: () => this.#describe(({ wasm }) => nodeRequirementText(wasm)) },
  ];

  /** Notes the configuration of a runtime's call. */
  note(configuration: HostConfiguration): void {
    const { name } = configuration;
    if (this.#last.has(name) || this.#last.size < maxConfigurations) this.#last.set(name, configuration);
  }

  #describe(describe: (configuration: HostConfiguration) => string): string {
    const all = [...this.#last].map(([name, configuration]) => `${name}: ${describe(configuration)}`);
    return all.length === 0 ? "no call has come yet" : all.join("; ");
  }
}

/** A clause about the policy for definitions. */
function definitionPolicyText({ profile, definitions }: Pick<HostConfiguration, "profile" | "definitions">): string {
  const { trusted, rules } = definitions;
  if (trustsEverybody({ trusted })) {
    const why = profile === "multus" ? "profile multus" : "definitions.trusted has *";
    return `every definition may run every plugin as root (${why})`;
  }
  const namespaces = trusted.length === 0 ? "no namespace" : trusted.join(", ");
  return `definitions of ${namespaces} are trusted, all others are bound by ${rules.length} rules`;
}
