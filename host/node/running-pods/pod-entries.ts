// The journal's entries by pod. A change that concerns a thousand pods looks at the journal once, and not once for each of them.

import { podIdentity } from "../../../src/kube/pod-identity.ts";
import { bootId } from "../../system/boot-id.ts";
import type { EntrySource, ListedEntry } from "../reconcile/entry-list.ts";

/** The entries of one journal that belong to this boot and whose ADD has ended. */
export class PodEntries {
  readonly #list: EntrySource;
  readonly #onFault: (text: string) => void;
  #byPod: ReadonlyMap<string, readonly ListedEntry[]> = new Map();
  /** Counts the notes of changes; a look has the number that was current at its begin. */
  #changes = 1;
  #seen = 0;
  #looking: { readonly number: number; readonly end: Promise<void> } | undefined;

  /** `onFault` receives the text of each fault; the entries of the last look then count. */
  constructor(list: EntrySource, onFault: (text: string) => void) {
    this.#list = list;
    this.#onFault = onFault;
  }

  /** The journal may have changed: what is asked from now on needs a new look. */
  noteChange(): void {
    this.#changes += 1;
  }

  /** All entries, after a new look. */
  async all(): Promise<readonly ListedEntry[]> {
    this.noteChange();
    await this.#look();
    return [...this.#byPod.values()].flat();
  }

  /** The entries of a pod, which is `namespace/name`, as of the last noted change. */
  async of(pod: string): Promise<readonly ListedEntry[]> {
    await this.#look();
    return this.#byPod.get(pod) ?? [];
  }

  async #look(): Promise<void> {
    const needed = this.#changes;
    while (this.#seen < needed) {
      if (this.#looking === undefined || this.#looking.number < needed) {
        const number = this.#changes;
        this.#looking = { number, end: this.#refresh(number) };
      }
      await this.#looking.end;
    }
  }

  async #refresh(number: number): Promise<void> {
    const listed = await this.#list.refresh();
    // A look that began later may have ended first.
    if (number <= this.#seen) return;
    this.#seen = number;
    if (!listed.ok) return this.#onFault(listed.fault.msg);
    const boot = bootId();
    const current = listed.value.entries.filter(({ entry }) => entry.plan.bootId === boot && entry.closed);
    this.#byPod = Map.groupBy(current, podOf);
  }
}

/** The pod of an entry as `namespace/name`; empty if the runtime named none. */
export function podOf({ entry }: ListedEntry): string {
  const identity = podIdentity(entry.plan.cniArgs);
  return identity.ok && identity.value !== undefined ? `${identity.value.namespace}/${identity.value.name}` : "";
}
