// An address of an attachment that is long gone may be another pod's by now: its lease was given back before the undoing broke off, or
// lay in /run through a reboot. Plugins that undo by address (firewall) would cut that pod off, so they are not told of it.

import { isJsonObject } from "../../src/json/document.ts";
import { sameKey, type JournalKey } from "../journal/entry-file.ts";
import type { JournalEntry } from "../journal/entry.ts";
import type { Journal } from "../journal/journal.ts";

/** The entry of `key`, without those results that have an address of any other of these. */
export function withoutSharedResults(entry: JournalEntry, key: JournalKey, others: Iterable<JournalEntry>): JournalEntry {
  const own = new Set(entry.progress.flatMap(addressesOf));
  const shared = new Set<string>();
  for (const { plan, progress } of own.size === 0 ? [] : others) {
    if (sameKey(plan, key)) continue;
    for (const address of progress.flatMap(addressesOf)) if (own.has(address)) shared.add(address);
  }
  if (shared.size === 0) return entry;
  const progress = entry.progress.map((each) => {
    const { attempted, undone } = each;
    return addressesOf(each).some((address) => shared.has(address)) ? { attempted, undone } : each;
  });
  return { ...entry, progress };
}

/** All entries of a journal that can be read. */
export function entriesOf(journal: Journal): readonly JournalEntry[] {
  const keys = journal.list();
  return (keys.ok ? keys.value : []).flatMap((key) => {
    const loaded = journal.load(key);
    return loaded.ok ? (loaded.value ?? []) : [];
  });
}

/** Without their prefixes; those of what is undone already count for nothing. */
function addressesOf({ result = "{}", undone }: JournalEntry["progress"][number]): readonly string[] {
  if (undone) return [];
  try {
    const value: unknown = JSON.parse(result);
    if (!isJsonObject(value)) return [];
    // Before 0.3.0 there was one of each family.
    const older = [value["ip4"], value["ip6"]].map((each) => (isJsonObject(each) ? each["ip"] : undefined));
    const ips: readonly unknown[] = Array.isArray(value["ips"]) ? value["ips"] : [];
    const all = [...ips.map((each) => (isJsonObject(each) ? each["address"] : undefined)), ...older];
    return all.flatMap((each) => (typeof each === "string" ? (each.split("/")[0] ?? []) : []));
  } catch {
    return [];
  }
}
