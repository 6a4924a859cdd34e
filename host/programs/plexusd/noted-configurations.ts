// The configurations that calls have had, in words, as `plexusctl status` shows them. The daemon learns a configuration with a call.

import { trustsEverybody } from "../../../src/configuration/definition-policy.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { nodeRequirementText } from "../../../src/configuration/requirement-text.ts";

/** Maximum number of configurations that are remembered. A node has one or two. */
const maxConfigurations = 16;

/** A sentence about each configuration, by its name. */
export class ConfigurationTexts {
  readonly #texts = new Map<string, string>();
  readonly #describe: (configuration: HostConfiguration) => string;

  constructor(describe: (configuration: HostConfiguration) => string) {
    this.#describe = describe;
  }

  /** Remembers a call's configuration. */
  note(configuration: HostConfiguration): void {
    const { name } = configuration;
    if (!this.#texts.has(name) && this.#texts.size >= maxConfigurations) return;
    this.#texts.set(name, `${name}: ${this.#describe(configuration)}`);
  }

  /** One sentence for each configuration. */
  text(): string {
    return this.#texts.size === 0 ? "no call has come yet" : [...this.#texts.values()].join("; ");
  }
}

/** The configurations of one daemon's calls. */
export class NotedConfigurations {
  readonly #definitions = new ConfigurationTexts(definitionPolicyText);
  readonly #components = new ConfigurationTexts(({ wasm }) => nodeRequirementText(wasm));

  /** The sentences, by their names in the status. */
  readonly sentences: readonly { readonly name: string; readonly sentence: () => string }[] = [
    { name: "definitions", sentence: () => this.#definitions.text() },
    { name: "components", sentence: () => this.#components.text() },
  ];

  /** Notes the configuration of a runtime's call. */
  note(configuration: HostConfiguration): void {
    this.#definitions.note(configuration);
    this.#components.note(configuration);
  }
}

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
