// The addresses of a sandbox on all of its networks, from the journal (CR-16).

import { checkContainerId } from "../../../src/cni/names.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { Journal } from "../../store/journal/journal.ts";
import { summaryOf } from "../state/entry-summary.ts";

/** An address of a sandbox. */
export interface SandboxAddress {
  /** Without a prefix length. */
  readonly ip: string;
  readonly networkName: string;
  readonly interfaceName: string;
}

/** The addresses in the order of attachment. Faults: CONTAINER_UNKNOWN, ENVIRONMENT_INVALID for an impossible id, STORE_FAILED, JOURNAL_UNREADABLE. */
export function sandboxAddresses(stateDirectory: string, sandboxId: string): Result<readonly SandboxAddress[]> {
  const id = checkContainerId(sandboxId);
  if (!id.ok) return id;
  const journal = new Journal(stateDirectory);
  const keys = journal.list();
  if (!keys.ok) return keys;
  const addresses: SandboxAddress[] = [];
  let found = false;
  for (const key of keys.value) {
    if (key.containerId !== sandboxId) continue;
    const entry = journal.load(key);
    if (!entry.ok) return entry;
    // A DEL may have removed the entry meanwhile.
    if (entry.value === undefined) continue;
    found = true;
    for (const { state, addresses: cidrs, network, ifname } of summaryOf(entry.value, "", false).attachments) {
      if (state !== "attached") continue;
      for (const cidr of cidrs) {
        const [ip = ""] = cidr.split("/");
        addresses.push({ ip, networkName: network, interfaceName: ifname });
      }
    }
  }
  if (found) return ok(addresses);
  return failed(fault("CONTAINER_UNKNOWN", `sandbox ${quote(sandboxId, 80)} has no attachment of Plexus on this node`));
}
