// Sysctls under `net` in the node's or the pod's network namespace.

import type { SysctlEffects } from "../../protocol/shim.ts";
import { systemError } from "../../system/system-error.ts";
import type { LinksPlace } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { ENOENT } from "../../system/errno.ts";

/** The outcome of one write: the value before it, the reason of a failure, or `missing` where the kernel does not have the key. */
export type SettingOutcome = { readonly before: string } | { readonly missing: true } | { readonly reason: string };

/** A sysctl and its new value. */
export interface Setting {
  /** A path below /proc/sys. */
  readonly key: string;
  readonly value: string;
}

const decoder = new TextDecoder();

/** Writes sysctls in one of the call's two network namespaces. */
export class Settings {
  readonly #shim: SysctlEffects;
  readonly #podNetns: string;

  /** `podNetns`: path of the pod's network namespace; empty where there is none. */
  constructor(shim: SysctlEffects, podNetns: string) {
    this.#shim = shim;
    this.#podNetns = podNetns;
  }

  async write(place: LinksPlace, setting: Setting): Promise<SettingOutcome> {
    const [outcome] = await this.writeAll(place, [setting]);
    return outcome ?? { reason: "the shim did not answer" };
  }

  /** Writes settings in order. A setting that fails does not stop the following ones. */
  async writeAll(place: LinksPlace, settings: readonly Setting[]): Promise<readonly SettingOutcome[]> {
    if (place === "pod" && this.#podNetns === "") return settings.map(() => ({ reason: "the pod has no network namespace" }));
    const path = place === "pod" ? this.#podNetns : "";
    const outcomes: SettingOutcome[] = [];
    while (outcomes.length < settings.length) {
      const remaining = settings.slice(outcomes.length);
      const { errno, sent, reply } = await this.#shim.sysctl({ path, settings: remaining });
      // The shim stops at the first failure and answers the previous values of the settings before it.
      const previous = decoder.decode(reply).split("\0").slice(0, -1).slice(0, remaining.length);
      for (const value of previous) outcomes.push({ before: value.trim() });
      if (previous.length === remaining.length) break;
      outcomes.push(errno === ENOENT && sent ? { missing: true } : { reason: systemError(errno) });
    }
    return outcomes;
  }
}
