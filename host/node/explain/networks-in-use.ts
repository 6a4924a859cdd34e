// Finds the networks of the node's attachments in the journal, whose plans have each configuration as it was at the ADD.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { inlineNetwork } from "../../../src/cni/inline-network.ts";
import { keyOfFileName, readEntry } from "../../store/journal/entry-file.ts";
import type { NamedList } from "./networks.ts";

/** Maximum entries that are read, and maximum networks. */
const maxEntries = 1000;
const maxNetworks = 100;

/**
 * The networks of the journals in these state directories, each once. Networks of the administrator whose name is in `known` are left out.
 * Unreadable entries are skipped: the status has their problems.
 */
export function networksInUse(stateDirectories: readonly string[], known: ReadonlySet<string>): readonly NamedList[] {
  const networks = new Map<string, NamedList>();
  for (const directory of stateDirectories) {
    for (const name of entriesIn(join(directory, "journal")).slice(0, maxEntries)) {
      const key = keyOfFileName(name);
      const entry = key === undefined ? undefined : readEntry(join(directory, "journal", name), key);
      if (entry?.ok !== true || entry.value === undefined) continue;
      for (const { network, source, conflist, definition } of entry.value.plan.attachments) {
        const identity = `${source}\n${network}\n${conflist}`;
        if (networks.size >= maxNetworks || networks.has(identity) || conflist === "") continue;
        if (definition === undefined && known.has(network)) continue;
        const list = inlineNetwork(conflist, source, { name: network, cniVersion: "" });
        if (!list.ok) continue;
        const { value } = list;
        const bound = definition && { namespace: definition.namespace, binding: { definition, plugins: value.plugins } };
        networks.set(identity, { source, list: value, ...bound });
      }
    }
  }
  return [...networks.values()];
}

function entriesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).toSorted();
  } catch {
    return [];
  }
}
