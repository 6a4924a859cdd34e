// A sentence about each of the node's configurations, as `plexusctl status` shows it. The daemon learns a configuration with a call.

import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";

/** Maximum number of configurations that are remembered. A node has one or two. */
const maxConfigurations = 16;

/** The sentences by the configuration's name. */
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
