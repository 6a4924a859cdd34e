// The network of a NetworkAttachmentDefinition on this node. A definition without a configuration means a network of the node with the
// definition's name: a network that a client of the CRI Network API has set, else a file of confDir (N1-10).

import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import { type DefinedNetwork, networkFor } from "../../../src/npwg/network-for-definition.ts";
import type { NetworkAttachmentDefinition } from "../../../src/npwg/network-attachment-definition.ts";
import { readConfigurationDirectory } from "../../store/files/configuration-directory.ts";
import { setNetworkList } from "../../store/networks/set-network.ts";

/** The definition's network. Faults: STORE_FAILED, and those of `networkFor`. */
export function definitionNetwork(
  { cniDir, confDir }: Pick<HostConfiguration, "cniDir" | "confDir">,
  definition: NetworkAttachmentDefinition,
): Result<DefinedNetwork> {
  if (definition.config !== undefined) return networkFor(definition, undefined);
  const set = setNetworkList(cniDir, definition.name);
  if (!set.ok) return set;
  if (set.value !== undefined) return ok({ list: set.value, path: undefined, warnings: [] });
  const directory = readConfigurationDirectory(confDir);
  return directory.ok ? networkFor(definition, directory.value) : directory;
}
