// The configurations that calls have had, in the daemon's status.

import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { nodeRequirementText } from "../../../src/configuration/requirement-text.ts";
import { ConfigurationTexts } from "./configuration-texts.ts";
import { definitionPolicyText } from "./definition-policy-text.ts";

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
