// Keeps the configurations of calls for rounds, which undo attachments without a call.

import { resolve } from "node:path";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import type { KeptConfigurations } from "./kept-configurations.ts";
import { LatestOfWindow } from "./latest-of-window.ts";
import { stackOf } from "./round-log.ts";

/** Minimum time between two writes of one configuration, in ms: a runtime may pass two texts of one name in turn. */
const windowMs = 10_000;
/** Maximum state directories that are warned of. */
const maxElsewhere = 64;
/**
 * Verbs of attachments that exist: a runtime may send them with the configuration of the ADD. CRI-O does (ocicni, loadNetworkFromCache), containerd sends that of now.
 */
const cachedVerbs: readonly string[] = ["CHECK", "DEL"];
/** Maximum configurations whose last text is remembered, and its maximum length in bytes. A node has one or two. */
const maxTexts = 16;
const maxTextLength = 65_536;

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
  /** The last text of each configuration. The same text, as for most pods, is not parsed again. */
  readonly #texts = new Map<string, Buffer>();
  /** The configuration of the last call with a verb that no runtime sends with an earlier one. */
  readonly #current = new Map<string, HostConfiguration>();
  /** State directories of calls that the daemon does not reconcile: each is warned of once. */
  readonly #elsewhere = new Set<string>();

  /** `storeOf`: the store of a state directory; undefined for a directory that the daemon does not reconcile. */
  constructor(storeOf: (stateDirectory: string) => KeptConfigurations | undefined, warn: (text: string) => void) {
    this.#storeOf = storeOf;
    this.#warn = warn;
  }

  /**
   * Keeps the configuration of a call, unless it may be an earlier one. Answers the configuration of the same name that the runtime has now, as far as calls have
   * told. Never fails.
   */
  add(verb: string, configuration: HostConfiguration, stdin: Uint8Array): HostConfiguration {
    const { cniDir, name } = configuration;
    const directory = resolve(cniDir);
    const key = `${name}@${directory}`;
    const store = this.#storeOf(directory);
    const current = cachedVerbs.includes(verb) ? (this.#current.get(key) ?? store?.read(name)) : undefined;
    if (current !== undefined) return current;
    if (this.#current.has(key) || this.#current.size < maxTexts) this.#current.set(key, configuration);
    if (store === undefined) this.#warnElsewhere(directory);
    else this.#keepText(key, { store, name, stdin });
    return configuration;
  }

  #keepText(key: string, { store, name, stdin }: CallConfiguration): void {
    if (this.#texts.get(key)?.equals(stdin) === true) return;
    if (stdin.length > maxTextLength) this.#texts.delete(key);
    else if (this.#texts.has(key) || this.#texts.size < maxTexts) this.#texts.set(key, Buffer.from(stdin));
    this.#latest.add(key, { store, name, stdin });
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

  /** Answers whether the file was written, or could not be. */
  #keep({ store, name, stdin }: CallConfiguration): boolean {
    const failedWith = (why: string): true => {
      this.#warn(`configuration ${name} cannot be stored: ${why}`);
      // The next call tries again, also with the same text.
      this.#texts.clear();
      return true;
    };
    try {
      const kept = store.keep(name, Buffer.from(stdin).toString("utf8"));
      return kept.ok ? kept.value : failedWith(kept.fault.msg);
    } catch (error) {
      return failedWith(stackOf(error));
    }
  }
}
