// The addresses of a sandbox on all of its networks, from the journal (CR-16).

import { summaryOf } from "../../../host/node/state/entry-summary.ts";
import type { JournalEntry } from "../../../host/store/journal/entry.ts";
import { Journal } from "../../../host/store/journal/journal.ts";
import { checkContainerId } from "../../../src/cni/attachment.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";

/** An address of a sandbox. */
export interface SandboxAddress {
  /** Without a prefix length. */
  readonly ip: string;
  readonly networkName: string;
  readonly interfaceName: string;
}

/** The journal entries of a sandbox. Faults: CONTAINER_UNKNOWN, ENVIRONMENT_INVALID for an impossible id, STORE_FAILED, JOURNAL_UNREADABLE. */
export function sandboxEntries(stateDirectory: string, sandboxId: string): Result<readonly JournalEntry[]> {
  const id = checkContainerId(sandboxId);
  if (!id.ok) return id;
  const journal = new Journal(stateDirectory);
  const keys = journal.list();
  if (!keys.ok) return keys;
  const entries: JournalEntry[] = [];
  for (const key of keys.value) {
    if (key.containerId !== sandboxId) continue;
    const entry = journal.load(key);
    if (!entry.ok) return entry;
    // A DEL may have removed the entry meanwhile.
    if (entry.value !== undefined) entries.push(entry.value);
  }
  if (entries.length > 0) return ok(entries);
  return failed(fault("CONTAINER_UNKNOWN", `sandbox ${quote(sandboxId, 80)} has no attachment of Plexus on this node`));
}

/** The addresses of a sandbox's entries in the order of attachment. */
export function addressesOf(entries: readonly JournalEntry[]): readonly SandboxAddress[] {
  const attachments = entries.flatMap((entry) => summaryOf(entry, "", false).attachments);
  return attachments
    .filter(({ state }) => state === "attached")
    .flatMap(({ addresses, network, ifname }) =>
      addresses.map((cidr) => ({ ip: cidr.replace(/\/.*$/, ""), networkName: network, interfaceName: ifname })),
    );
}
