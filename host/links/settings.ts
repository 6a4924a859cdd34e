// Sysctls under `net` of one of the two namespaces.

import type { Hands } from "../hands/hands.ts";
import { systemError } from "../netlink/system-error.ts";
import type { LinksPlace } from "../sandbox/abi/generated/delegate-0.1.0.ts";

/** What became of a setting: the value before, or why it could not be made. `missing`: the kernel doesn't have it. */
export type Wrote = { readonly before: string } | { readonly missing: true } | { readonly why: string };

const ENOENT = 2;

export class Settings {
  readonly #hands: Pick<Hands, "sysctl">;
  readonly #pod: string;

  /** `pod`: path of the pod's namespace. */
  constructor(hands: Pick<Hands, "sysctl">, pod: string) {
    this.#hands = hands;
    this.#pod = pod;
  }

  /** `key` is a path below /proc/sys. */
  async write(place: LinksPlace, key: string, value: string): Promise<Wrote> {
    if (place === "pod" && this.#pod === "") return { why: "the pod has no network namespace (any more)" };
    const { errno, sent, reply } = await this.#hands.sysctl({
      path: place === "pod" ? this.#pod : "",
      settings: [{ key, value }],
    });
    const end = reply.indexOf(0);
    if (errno === 0 && end >= 0) return { before: new TextDecoder().decode(reply.subarray(0, end)).trim() };
    return errno === ENOENT && sent ? { missing: true } : { why: systemError(errno) };
  }
}
