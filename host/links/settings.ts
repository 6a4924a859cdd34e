// Sysctls under `net` of one of the two namespaces.

import type { Hands } from "../hands/hands.ts";
import { systemError } from "../netlink/system-error.ts";
import type { LinksPlace } from "../sandbox/abi/generated/delegate-0.1.0.ts";

/** What became of a setting: the value before, or why it could not be made. `missing`: the kernel doesn't have it. */
export type Wrote = { readonly before: string } | { readonly missing: true } | { readonly why: string };

export interface Setting {
  /** A path below /proc/sys. */
  readonly key: string;
  readonly value: string;
}

const ENOENT = 2;
const decoder = new TextDecoder();

export class Settings {
  readonly #hands: Pick<Hands, "sysctl">;
  readonly #pod: string;

  /** `pod`: path of the pod's namespace. */
  constructor(hands: Pick<Hands, "sysctl">, pod: string) {
    this.#hands = hands;
    this.#pod = pod;
  }

  async write(place: LinksPlace, setting: Setting): Promise<Wrote> {
    const [wrote] = await this.writeAll(place, [setting]);
    return wrote ?? { why: "it was not answered" };
  }

  /** One after the other, in one go; one that fails keeps none from being written. */
  async writeAll(place: LinksPlace, settings: readonly Setting[]): Promise<readonly Wrote[]> {
    if (place === "pod" && this.#pod === "") return settings.map(() => ({ why: "the pod has no network namespace (any more)" }));
    const path = place === "pod" ? this.#pod : "";
    const wrote: Wrote[] = [];
    while (wrote.length < settings.length) {
      const left = settings.slice(wrote.length);
      const { errno, sent, reply } = await this.#hands.sysctl({ path, settings: left });
      // The values before of those that were done: their number says which one failed.
      const before = decoder.decode(reply).split("\0").slice(0, -1).slice(0, left.length);
      for (const value of before) wrote.push({ before: value.trim() });
      if (before.length === left.length) break;
      wrote.push(errno === ENOENT && sent ? { missing: true } : { why: systemError(errno) });
    }
    return wrote;
  }
}
