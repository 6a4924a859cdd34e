// The pods of all state directories, and the feature's work for one of them.

import { resolve } from "node:path";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { Journal } from "../../store/journal/journal.ts";
import { EntryList, type ListedEntry } from "../reconcile/entry-list.ts";
import { KeptConfigurations, keptConfigurationsWith } from "../reconcile/kept-configurations.ts";
import type { PodCalls, PodWork } from "./pod-calls.ts";
import { PodEntries, podOf } from "./pod-entries.ts";
import type { PodOutcome } from "./pod-outcomes.ts";

interface StateDirectory {
  readonly configurations: KeptConfigurations;
  readonly entries: EntryList;
  readonly byPod: PodEntries;
}

/** The entries of one feature's pods. A pod is named `namespace/name`. */
export class FollowedEntries {
  readonly #states: readonly StateDirectory[];
  readonly #calls: PodCalls;

  /** `directories`: the state directories (`cniDir`). `onFault` receives the text of each fault of reading a journal. */
  constructor(directories: readonly string[], calls: PodCalls, onFault: (text: string) => void) {
    this.#calls = calls;
    this.#states = directories.map((path) => {
      const stateDirectory = resolve(path);
      const entries = new EntryList(new Journal(stateDirectory), stateDirectory);
      const byPod = new PodEntries(entries, onFault);
      const configurations = new KeptConfigurations(stateDirectory);
      return { configurations, entries, byPod };
    });
  }

  /** The configurations with the feature that earlier calls left. */
  kept(): readonly HostConfiguration[] {
    return this.#states.flatMap(({ configurations }) =>
      keptConfigurationsWith(configurations.stateDirectory, this.#calls.work.isOn),
    );
  }

  /** The journals may have changed: what is asked from now on needs a new look. */
  noteChange(): void {
    for (const { byPod } of this.#states) byPod.noteChange();
  }

  /** All entries of pods, after a new look. */
  async all(): Promise<readonly { readonly pod: string; readonly listed: ListedEntry }[]> {
    const found: ListedEntry[] = [];
    for (const { byPod } of this.#states) found.push(...(await byPod.all()));
    return found.map((listed) => ({ pod: podOf(listed), listed })).filter(({ pod }) => pod !== "");
  }

  /** The containers with an entry in a journal, those of running ADDs included; undefined if a journal cannot be read as a whole. */
  async containerIds(): Promise<ReadonlySet<string> | undefined> {
    const found = new Set<string>();
    for (const { entries } of this.#states) {
      const listed = await entries.refresh();
      if (!listed.ok || listed.value.damaged.length > 0) return undefined;
      for (const { entry } of listed.value.entries) found.add(entry.plan.containerId);
    }
    this.#calls.forgetOthers(found);
    return found;
  }

  /** Does the work for each container of the pod. */
  async work(pod: string, anew: boolean): Promise<PodOutcome> {
    const [failures, shortfalls]: [string[], string[]] = [[], []];
    for (const { byPod, configurations } of this.#states) {
      for (const listed of await byPod.of(pod)) {
        const refreshed = await this.#calls.refresh(configurations, listed, anew);
        if (!refreshed.ok) failures.push(refreshed.fault.msg);
        else if (refreshed.value !== undefined) (refreshed.value.isWhole ? shortfalls : failures).push(refreshed.value.message);
      }
    }
    return { failure: failures.join("; "), shortfall: shortfalls.join("; ") };
  }

  /** Runs `apply` for each container of the pod in place of the work. The fault of the first one that fails. */
  async apply(pod: string, apply: (...of: Parameters<PodWork["apply"]>) => Promise<Result<void>>): Promise<Result<void>> {
    const calls = this.#calls.with(apply);
    for (const { byPod, configurations } of this.#states) {
      byPod.noteChange();
      for (const listed of await byPod.of(pod)) {
        const applied = await calls.refresh(configurations, listed, false);
        if (!applied.ok) return failed(applied.fault);
      }
    }
    return ok(undefined);
  }
}
