// The journal's entries of running containers: by pod, and by container.

import { ok, type Result } from "../../../src/fault/result.ts";
import { bootId } from "../../../host/system/boot-id.ts";
import { podName } from "../../../src/kube/pod-identity.ts";
import type { JournalEntry } from "../../../host/store/journal/entry.ts";
import { Journal } from "../../../host/store/journal/journal.ts";
import { EntryList, type ListedEntry } from "../../../host/node/reconcile/entry-list.ts";

/** The entries of one state directory. */
export class RunningEntries {
  readonly #list: EntryList;

  constructor(stateDirectory: string) {
    this.#list = new EntryList(new Journal(stateDirectory), stateDirectory);
  }

  /** The newest entry of the pod `namespace/name`, its ADD complete or not; undefined without one. Fault STORE_FAILED. */
  ofPod(pod: string): Promise<Result<ListedEntry | undefined>> {
    return this.#newest(({ entry }) => podName(entry.plan.cniArgs) === pod);
  }

  /** The newest entry of a container; undefined without one. Fault STORE_FAILED. */
  ofContainer(containerId: string): Promise<Result<ListedEntry | undefined>> {
    return this.#newest(({ key }) => key.containerId === containerId);
  }

  /** The pods with an entry of this boot, as `namespace/name`. Fault STORE_FAILED. */
  async pods(): Promise<Result<ReadonlySet<string>>> {
    const listed = await this.#list.refresh();
    if (!listed.ok) return listed;
    const boot = bootId();
    const entries = listed.value.entries.filter(({ entry }) => entry.plan.bootId === boot);
    return ok(new Set(entries.flatMap(({ entry }) => podName(entry.plan.cniArgs) ?? [])));
  }

  async #newest(fits: (entry: ListedEntry) => boolean): Promise<Result<ListedEntry | undefined>> {
    const listed = await this.#list.refresh();
    if (!listed.ok) return listed;
    const boot = bootId();
    const found = listed.value.entries.filter((each) => each.entry.plan.bootId === boot && fits(each));
    return ok(found.toSorted((one, other) => other.begunAt - one.begunAt)[0]);
  }
}

/** Whether the entry's ADD ran with the key `hotPlug`. */
export function isChangeable({ plan }: JournalEntry): boolean {
  return plan.attachments[0]?.hotPlug !== undefined;
}
