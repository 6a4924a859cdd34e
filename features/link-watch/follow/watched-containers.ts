// The containers of this boot whose configuration has the key `linkWatch`, by the journals of the daemon's state directories.

import { resolve } from "node:path";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import { EntryList, type ListedEntry } from "../../../host/node/reconcile/entry-list.ts";
import { KeptConfigurations, keptConfigurationsWith } from "../../../host/node/reconcile/kept-configurations.ts";
import { fileNameOf } from "../../../host/store/journal/entry-file.ts";
import { Journal } from "../../../host/store/journal/journal.ts";
import { bootId } from "../../../host/system/boot-id.ts";
import type { LookParts, WatchedDirectory } from "./settle-container.ts";
import { type WatchedContainer, watchedContainer } from "./watched-links.ts";

interface StateDirectory extends WatchedDirectory {
  readonly entries: EntryList;
}

/** A container with further networks, and its entry in the journal. */
export interface Watched {
  readonly state: WatchedDirectory;
  readonly listed: ListedEntry;
  readonly container: WatchedContainer;
}

/** The difference of two readings of the journals, by the containers' keys. */
export interface WatchedChanges {
  /** Containers that are gone, and their network namespaces. */
  readonly gone: readonly { readonly key: string; readonly netns: string }[];
  /** Containers that are new, or whose entry has changed. */
  readonly changed: readonly string[];
}

/** The watched containers of one daemon. */
export class WatchedContainers {
  readonly #states: readonly StateDirectory[];
  /** Whether lost links are attached again, by state directory and configuration; those without the key are not in it. */
  readonly #settings = new Map<string, { readonly repair: boolean }>();
  #watched: ReadonlyMap<string, Watched> = new Map();
  /** The looks at the journals that have begun, and the latest of them that has ended. */
  #begun = 0;
  #seen = 0;

  /** `directories`: the state directories (`cniDir`). `parts`: the same for each of them. */
  constructor(directories: readonly string[], parts: LookParts) {
    this.#states = directories.map((path) => {
      const stateDirectory = resolve(path);
      const entries = new EntryList(new Journal(stateDirectory), stateDirectory);
      return { ...parts, stateDirectory, configurations: new KeptConfigurations(stateDirectory), entries };
    });
  }

  /** Whether a configuration has the key. */
  get isOn(): boolean {
    return this.#settings.size > 0;
  }

  /** All watched containers by their keys. */
  get all(): ReadonlyMap<string, Watched> {
    return this.#watched;
  }

  /** The number of watched links. */
  get links(): number {
    return [...this.#watched.values()].reduce((sum, { container }) => sum + container.links.length, 0);
  }

  /** The configurations with the key that earlier calls left. */
  kept(): readonly HostConfiguration[] {
    return this.#states.flatMap(({ stateDirectory }) => [
      ...keptConfigurationsWith(stateDirectory, ({ linkWatch }) => linkWatch !== undefined),
    ]);
  }

  /** Notes the configuration of a call. Answers whether it is the first one of its name with the key. */
  noteConfiguration({ cniDir, name, linkWatch, retired }: HostConfiguration): boolean {
    const source = sourceOf(cniDir, name);
    const isNew = !this.#settings.has(source);
    if (linkWatch === undefined || retired) {
      this.#settings.delete(source);
      return false;
    }
    this.#settings.set(source, linkWatch);
    return isNew;
  }

  /** Whether lost links of the container are to be attached again. */
  wantsRepair({ state, listed }: Watched): boolean {
    return this.#settings.get(sourceOf(state.stateDirectory, listed.entry.plan.network))?.repair === true;
  }

  /** Reads the journals. After a fault the containers stay as they were, and so they do if a look that began later has ended first. */
  async refresh(): Promise<Result<WatchedChanges>> {
    this.#begun += 1;
    const number = this.#begun;
    const boot = bootId();
    const watched = new Map<string, Watched>();
    for (const state of this.#states) {
      const entries = await state.entries.refresh();
      if (!entries.ok) return entries;
      for (const listed of entries.value.entries) {
        const { bootId: ofEntry, network } = listed.entry.plan;
        const isWatched = ofEntry === boot && this.#settings.has(sourceOf(state.stateDirectory, network));
        const container = isWatched ? watchedContainer(listed.entry) : undefined;
        if (container !== undefined)
          watched.set(`${state.stateDirectory}/${fileNameOf(listed.key)}`, { state, listed, container });
      }
    }
    if (number < this.#seen) return ok({ gone: [], changed: [] });
    this.#seen = number;
    const before = this.#watched;
    this.#watched = watched;
    const isNews = ([key, { listed }]: readonly [string, Watched]): boolean => before.get(key)?.listed.version !== listed.version;
    return ok({
      gone: [...before].filter(([key]) => !watched.has(key)).map(([key, { container }]) => ({ key, netns: container.netns })),
      changed: [...watched].filter(isNews).map(([key]) => key),
    });
  }
}

/** A configuration by its state directory and its name. */
function sourceOf(stateDirectory: string, name: string): string {
  return `${resolve(stateDirectory)} ${name}`;
}
