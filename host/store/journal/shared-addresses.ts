// Addresses of old attachments that now belong to another pod. This happens if the lease was released before the DEL failed, or was in
// /run and vanished with a reboot. A plugin that undoes by address (firewall) would cut off the other pod, so it gets no such result.

import { isJsonObject } from "../../../src/json/document.ts";
import { sameKey, type JournalKey } from "./entry-file.ts";
import type { JournalEntry } from "./entry.ts";
import type { Journal } from "./journal.ts";

/** The entry without the results that have an address of another entry. `key`: the entry's own key, which `others` may include. */
export function withoutSharedResults(entry: JournalEntry, key: JournalKey, others: Iterable<JournalEntry>): JournalEntry {
  const addresses = new Set(entry.progress.flatMap(addressesOf));
  const shared = new Set<string>();
  for (const { plan, progress } of addresses.size === 0 ? [] : others) {
    if (sameKey(plan, key)) continue;
    for (const address of progress.flatMap(addressesOf)) if (addresses.has(address)) shared.add(address);
  }
  if (shared.size === 0) return entry;
  const progress = entry.progress.map((each) => {
    const { attempted, undone } = each;
    return addressesOf(each).some((address) => shared.has(address)) ? { attempted, undone } : each;
  });
  return { ...entry, progress };
}

/** All readable entries of a journal. */
export function entriesOf(journal: Journal): readonly JournalEntry[] {
  const keys = journal.list();
  return (keys.ok ? keys.value : []).flatMap((key) => {
    const loaded = journal.load(key);
    return loaded.ok ? (loaded.value ?? []) : [];
  });
}

/** The addresses of an attachment's result; none for an attachment that is undone. */
function addressesOf({ result, undone }: JournalEntry["progress"][number]): readonly string[] {
  return undone ? [] : addressesIn(result);
}

/** The addresses in a result, without prefix lengths. */
export function addressesIn(result = "{}"): readonly string[] {
  try {
    const value: unknown = JSON.parse(result);
    if (!isJsonObject(value)) return [];
    // Before CNI 0.3.0, a result had one address of each family.
    const older = [value["ip4"], value["ip6"]].map((each) => (isJsonObject(each) ? each["ip"] : undefined));
    const ips: readonly unknown[] = Array.isArray(value["ips"]) ? value["ips"] : [];
    const all = [...ips.map((each) => (isJsonObject(each) ? each["address"] : undefined)), ...older];
    return all.flatMap((each) => (typeof each === "string" ? (each.split("/")[0] ?? []) : []));
  } catch {
    return [];
  }
}
