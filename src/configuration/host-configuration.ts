// The administrator's CNI configuration for Plexus, as data: the default network, directories, and the rights of delegates. Keys
// that Multus has too keep Multus' names and meaning (checklist 1.4.1). The tables in keys/ say what each key means.

import type { DefinitionPolicy } from "./keys/definition-keys.ts";
import { allKeys, type HostValues } from "./keys/host-keys.ts";
import { defaultsOf } from "./table/key.ts";

/** A host configuration with every default filled in. */
export interface HostConfiguration extends Omit<HostValues, "definitions"> {
  /** The policy for NetworkAttachmentDefinitions. */
  readonly definitions: DefinitionPolicy;
  /** Notes for the administrator that are no mistakes, logged once for each pod; one sentence each. */
  readonly notices: readonly string[];
  /** Mistakes that do not stop this call; one sentence each. */
  readonly warnings: readonly string[];
}

/** The defaults of the keys that have one. */
export const hostDefaults: Omit<HostValues, "name"> = defaultsOf(allKeys);
