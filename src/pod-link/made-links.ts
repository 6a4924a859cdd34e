// The links of a pod that the components of one call have made, as far as the host knows them without looking into the pod's network namespace.

import { type LinkIdentity, identityOf, type ShownLink } from "./link-identity.ts";

/** The record of one call. The capability `links` reports to it; a program outside of the sandbox makes it unusable. */
export class MadeLinks {
  readonly #byIndex = new Map<number, LinkIdentity>();
  #isComplete = true;

  /** Reports a link of the pod as the kernel shows it after a change. `isNew`: the change made the link. */
  changed(link: ShownLink, isNew: boolean): void {
    if (isNew || this.#byIndex.has(link.index)) this.#byIndex.set(link.index, identityOf(link));
  }

  /** Reports that the link of the pod with this name was removed. */
  removed(name: string): void {
    for (const link of this.#byIndex.values()) if (link.name === name) this.#byIndex.delete(link.index);
  }

  /** Reports that a native plugin ran: it may have made links that nobody reports. */
  nativePluginRan(): void {
    this.#isComplete = false;
  }

  /** The reported links; undefined if there may be others. */
  get all(): readonly LinkIdentity[] | undefined {
    return this.#isComplete ? [...this.#byIndex.values()] : undefined;
  }
}
