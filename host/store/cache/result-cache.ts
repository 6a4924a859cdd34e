// libcni's cache of attachments on disk (L-31), for other tools and for a switch between plugins. Plexus itself relies on the
// journal.

import { readdirSync } from "node:fs";
import type { Attachment } from "../../../src/cni/attachment.ts";
import { cachedAttachments, cacheFileName, type CacheKey, encodeCache, mayBeEntryOf } from "../../../src/cni/cache.ts";
import { printCniArgs, splitCniArgs } from "../../../src/cni/environment.ts";
import { inlineNetwork } from "../../../src/cni/inline-network.ts";
import type { NetworkList } from "../../../src/cni/network-list.ts";
import type { PluginResult } from "../../../src/cni/result.ts";
import type { DefinitionName } from "../../../src/configuration/definition-policy.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import { backgroundWriter } from "../files/background-writer.ts";
import type { FileWriter } from "../files/file-writer.ts";
import { readRegularFile } from "../files/regular-file.ts";
import { MultusScratch } from "./multus-scratch.ts";

/** A configuration and a result have at most 4 MiB each. */
const entryFile = { maxBytes: 16 * 1024 * 1024, foreign: false } as const;

/** A cached attachment, ready for a DEL. */
export interface Cached {
  readonly list: NetworkList;
  readonly attachment: Attachment;
  readonly result: string | undefined;
  /** The definition that binds the network; undefined if the administrator configured it, or another program wrote the entry. */
  readonly definition?: DefinitionName | undefined;
}

/** The data to cache for an attachment that succeeded. */
export interface Cacheable {
  readonly list: NetworkList;
  readonly conflist: string;
  readonly attachment: Attachment;
  readonly binding?: { readonly definition: DefinitionName } | undefined;
}

/** Writes, reads and removes cached attachments. */
export class ResultCache {
  readonly directory: string;
  readonly #directories: readonly string[];
  /** An ADD reads nothing of Multus. */
  readonly #openScratch: () => MultusScratch;
  readonly #writer: FileWriter;

  /** `multusDirectory`: state directory of a Multus that attached pods before; its cache is read and removed too. */
  constructor(
    stateDirectory: string,
    multusDirectory: string = stateDirectory,
    warn: (text: string) => void = () => {},
    writer: FileWriter = backgroundWriter(),
  ) {
    this.#writer = writer;
    this.directory = `${stateDirectory}/results`;
    this.#directories = multusDirectory === stateDirectory ? [this.directory] : [this.directory, `${multusDirectory}/results`];
    this.#openScratch = () => new MultusScratch([stateDirectory, multusDirectory], warn);
  }

  /**
   * Writes an entry, once, after the whole chain succeeded (L-33). Without fsync, like libcni: it would cost two for each
   * attachment, and after a power loss DEL uses the journal, whose plan is durable.
   */
  async write({ list, conflist, attachment, binding }: Cacheable, result: PluginResult): Promise<Result<void>> {
    const { containerId, ifname, netns, args, capabilityArgs } = attachment;
    const name = cacheFileName({ network: list.name, containerId, ifname });
    if (!name.ok) return name;
    const entry = encodeCache({
      network: list.name,
      containerId,
      ifname,
      netns,
      args: splitCniArgs(args),
      capabilityArgs,
      config: conflist,
      result: result.text,
      definition: binding?.definition,
    });
    const path = `${this.directory}/${name.value}`;
    const written = await this.#writer.replace(path, entry, { maxBytes: entryFile.maxBytes, durable: false });
    if (!written.ok) return written;
    await written.value.close();
    return ok(undefined);
  }

  /** Removes an entry once the whole list's DEL succeeded (L-36). An entry that cannot be removed stays and does no harm. */
  async remove(key: CacheKey): Promise<void> {
    const name = cacheFileName(key);
    if (name.ok) await Promise.all(this.#directories.map((directory) => this.#writer.remove(`${directory}/${name.value}`)));
    const { containerId } = key;
    if (this.#openScratch().has(containerId) && this.#cached(containerId).length === 0) this.#openScratch().remove(containerId);
  }

  /**
   * The cached attachments of a container: in the order of Multus' state, if any, then in the order of file names. `ifname` is
   * the runtime's. Unreadable entries are ignored (L-38).
   */
  attachments(containerId: string, ifname: string): readonly Cached[] {
    const cached = this.#cached(containerId);
    const ordered = this.#openScratch()
      .networks(containerId, ifname)
      .map((scratched): Cached => {
        const same = cached.find((each) => each.list.name === scratched.list.name && each.attachment.ifname === scratched.ifname);
        // Attempted, but never finished: Multus writes its list before the first plugin runs.
        const attachment = {
          containerId,
          ifname: scratched.ifname,
          netns: "",
          args: "",
          capabilityArgs: new Map<string, string>(),
        };
        return same ?? { list: scratched.list, attachment, result: undefined };
      });
    return [...ordered, ...cached.filter((each) => !ordered.includes(each))];
  }

  #cached(containerId: string): readonly Cached[] {
    return this.#directories.flatMap((directory) => cachedIn(directory, containerId));
  }
}

function cachedIn(directory: string, containerId: string): readonly Cached[] {
  return cachedAttachments(filesIn(directory, containerId), containerId).flatMap((entry): Cached[] => {
    const { network, config, ifname, netns, capabilityArgs, result, definition } = entry;
    // Other users of the cache write single configurations, too.
    const list = inlineNetwork(config, `cached configuration of ${network}`, { name: network, cniVersion: "" });
    if (!list.ok) return [];
    return [
      {
        list: list.value,
        attachment: { containerId, ifname, netns, args: printCniArgs(entry.args ?? []), capabilityArgs },
        result,
        definition,
      },
    ];
  });
}

function filesIn(directory: string, containerId: string): readonly { readonly name: string; readonly text: string }[] {
  const names = attempt(() => readdirSync(directory)) ?? [];
  return names
    .filter((name) => !name.startsWith(".") && mayBeEntryOf(containerId, name))
    .flatMap((name) => {
      const text = attempt(() => readRegularFile(`${directory}/${name}`, entryFile));
      return text === undefined ? [] : [{ name, text }];
    });
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
