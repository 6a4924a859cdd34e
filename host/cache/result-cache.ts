// libcni's cache of attachments on disk (L-31): what other tools and a plugin that is switched to or from read. The journal
// is what Plexus itself relies on.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Attachment } from "../../src/cni/attachment.ts";
import { cachedAttachments, cacheFileName, type CacheKey, encodeCache, mayBeEntryOf } from "../../src/cni/cache.ts";
import { type NetworkList, parseNetworkList } from "../../src/cni/network-list.ts";
import type { PluginResult } from "../../src/cni/result.ts";
import type { Result } from "../../src/fault/result.ts";
import { removeFile, writeDurably } from "../files/durable-file.ts";
import { readRegularFile } from "../files/regular-file.ts";

/** A configuration and a result have at most 4 MiB each. */
const entryFile = { most: 16 * 1024 * 1024, foreign: false } as const;

/** An attachment as it was cached, ready for a DEL. */
export interface Cached {
  readonly list: NetworkList;
  readonly attachment: Attachment;
  readonly result: string | undefined;
}

/** What is cached of an attachment that succeeded. */
export interface Cacheable {
  readonly list: NetworkList;
  readonly conflist: string;
  readonly attachment: Attachment;
}

export class ResultCache {
  readonly directory: string;

  constructor(stateDirectory: string) {
    this.directory = join(stateDirectory, "results");
  }

  /** Written once, after the whole chain succeeded (L-33). */
  write({ list, conflist, attachment }: Cacheable, result: PluginResult): Result<void> {
    const { containerId, ifname, netns, args, capabilityArgs } = attachment;
    const name = cacheFileName({ network: list.name, containerId, ifname });
    if (!name.ok) return name;
    const entry = encodeCache({
      network: list.name,
      containerId,
      ifname,
      netns,
      args,
      capabilityArgs,
      config: conflist,
      result: result.text,
    });
    return writeDurably(join(this.directory, name.value), entry);
  }

  /** Removed once the whole list's DEL succeeded (L-36); what can't be removed stays, and harms nobody. */
  remove(key: CacheKey): void {
    const name = cacheFileName(key);
    if (name.ok) removeFile(join(this.directory, name.value));
  }

  /** What is cached of a container, in the order of file names; what can't be read as an entry is passed over (L-38). */
  attachments(containerId: string): readonly Cached[] {
    return cachedAttachments(this.#files(containerId), containerId).flatMap((entry): Cached[] => {
      const list = parseNetworkList(entry.config, `cached configuration of ${entry.network}`);
      if (!list.ok) return [];
      const { ifname, netns, capabilityArgs, result } = entry;
      return [{ list: list.value, attachment: { containerId, ifname, netns, args: entry.args ?? [], capabilityArgs }, result }];
    });
  }

  #files(containerId: string): readonly { readonly name: string; readonly text: string }[] {
    const names = attempt(() => readdirSync(this.directory)) ?? [];
    return names
      .filter((name) => !name.startsWith(".") && mayBeEntryOf(containerId, name))
      .flatMap((name) => {
        const text = attempt(() => readRegularFile(join(this.directory, name), entryFile));
        return text === undefined ? [] : [{ name, text }];
      });
  }
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
