// The network of a NetworkAttachmentDefinition on this node. A definition without a configuration means a network of the node with the
// definition's name: a network that a client of the CRI Network API has set, else a file of confDir (N1-10). The policy of the definition's namespace
// allows the network under a name of its own, or refuses it.

import { type NetworkList, withName } from "../../../src/cni/network-list.ts";
import { boundNetworkName, isTrustedNamespace, mayUseFile } from "../../../src/configuration/definition-policy.ts";
import type { DefinitionPolicy } from "../../../src/configuration/keys/definition-keys.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { fault } from "../../../src/fault/fault.ts";
import { type Result, failed, ok } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { broughtResultRefusal } from "../../../src/npwg/definition-plugins.ts";
import type { NetworkAttachmentDefinition } from "../../../src/npwg/network-attachment-definition.ts";
import { type DefinedNetwork, networkFor } from "../../../src/npwg/network-for-definition.ts";
import { readConfigurationDirectory } from "../../store/files/configuration-directory.ts";
import { setNetworkList } from "../../store/networks/set-network.ts";
import type { BoundNetwork } from "../planned/attachment-plan.ts";

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

/**
 * Applies the policy to the network of a definition. A trusted definition's network stays as it is. A bound definition may name a file
 * of the administrator only if a rule lists it, and its own network gets a name that no other source has. Its plugins bring no
 * `prevResult`. Fault: DEFINITION_FORBIDDEN.
 */
export function boundNetwork(
  policy: DefinitionPolicy,
  { namespace, name, config }: NetworkAttachmentDefinition,
  list: NetworkList,
): Result<BoundNetwork> {
  if (isTrustedNamespace(policy, namespace)) return ok({ list });
  if (config === undefined) {
    // The file is the administrator's own configuration, so that only its use needs a rule.
    if (mayUseFile(policy, namespace, list.name)) return ok({ list });
    const why = `has no spec.config, and no rule of definitions.rules lets namespace ${namespace} use the file's network ${quote(list.name, 64)} (key files)`;
    return failed(fault("DEFINITION_FORBIDDEN", `NetworkAttachmentDefinition ${namespace}/${name} ${why}`));
  }
  const brought = broughtResultRefusal({ namespace, name }, list.plugins);
  if (brought !== undefined) return failed(brought);
  const renamed = renamedList(list, boundNetworkName(policy, namespace, list.name));
  if (!renamed.ok) return renamed;
  return ok({ list: renamed.value, binding: { definition: { namespace, name }, plugins: list.plugins } });
}

/** The renamed lists of watched definitions, so that a daemon renames each version once. */
const renamedLists = new WeakMap<NetworkList, NetworkList>();

function renamedList(list: NetworkList, name: string): Result<NetworkList> {
  if (list.name === name) return ok(list);
  const known = renamedLists.get(list);
  if (known?.name === name) return ok(known);
  const renamed = withName(list, name);
  if (renamed.ok) renamedLists.set(list, renamed.value);
  return renamed;
}
