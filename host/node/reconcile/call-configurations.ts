// Keeps the configurations of calls for rounds, which undo attachments without a call.

import { resolve } from "node:path";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import type { KeptConfigurations } from "./kept-configurations.ts";
import { LatestOfWindow } from "./latest-of-window.ts";
import { stackOf } from "./round-log.ts";

/** Minimum time between two comparisons of a call's configuration with the kept one, in ms. */
const windowMs = 10_000;
/** Maximum state directories that are warned of. */
const maxElsewhere = 64;

/** The configuration of a call, and the store of its state directory. */
interface CallConfiguration {
  readonly store: KeptConfigurations;
  readonly name: string;
  readonly stdin: Uint8Array;
}

/** The configurations of one daemon's calls. */
export class CallConfigurations {
  readonly #storeOf: (stateDirectory: string) => KeptConfigurations | undefined;
  readonly #warn: (text: string) => void;
  readonly #latest = new LatestOfWindow<CallConfiguration>(windowMs, (latest) => this.#keep(latest));
  /** State directories of calls that the daemon does not reconcile: each is warned of once. */
  readonly #elsewhere = new Set<string>();

  /** `storeOf`: the store of a state directory; undefined for a directory that the daemon does not reconcile. */
  constructor(storeOf: (stateDirectory: string) => KeptConfigurations | undefined, warn: (text: string) => void) {
    this.#storeOf = storeOf;
    this.#warn = warn;
  }

  /** Keeps the configuration of a call. Never fails. */
  add({ cniDir, name }: HostConfiguration, stdin: Uint8Array): void {
    const directory = resolve(cniDir);
    const store = this.#storeOf(directory);
    if (store === undefined) return this.#warnElsewhere(directory);
    this.#latest.add(`${name}@${directory}`, { store, name, stdin });
  }

  /** Keeps what is left, and nothing more. */
  end(): void {
    this.#latest.end();
  }

  #warnElsewhere(directory: string): void {
    if (this.#elsewhere.size >= maxElsewhere || this.#elsewhere.has(directory)) return;
    this.#elsewhere.add(directory);
    this.#warn(
      `calls have their state in ${directory}, which is not reconciled. To do: start plexusd with --state-dir ${directory}`,
    );
  }

  #keep({ store, name, stdin }: CallConfiguration): void {
    const warnOf = (why: string): void => this.#warn(`configuration ${name} cannot be stored: ${why}`);
    try {
      const kept = store.keep(name, Buffer.from(stdin).toString("utf8"));
      if (!kept.ok) warnOf(kept.fault.msg);
    } catch (error) {
      warnOf(stackOf(error));
    }
  }
}
