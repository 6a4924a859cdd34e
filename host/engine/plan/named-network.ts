// Finds a network by its name: in the host configuration (MC-06), or in a NetworkAttachmentDefinition. Each call reads the files again.
//
// A name of the host configuration is a NetworkAttachmentDefinition in multusNamespace, otherwise a network that a client of the CRI Network API has set, otherwise a
// configuration in confDir. A path is a configuration file, or a directory whose first configuration counts. A definition without a configuration means a network of the
// node with the definition's name: one that a client has set, else a file of confDir (N1-10). The policy of the definition's namespace allows the network under a name of
// its own, or refuses it.

import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { filesWith, findNetwork } from "../../../src/cni/config-directory.ts";
import { inlineNetwork } from "../../../src/cni/inline-network.ts";
import { type NetworkList, parseNetworkList, withName } from "../../../src/cni/network-list.ts";
import { isPlexusName, boundNetworkName, isTrustedNamespace, mayUseFile } from "../../../src/configuration/definition-policy.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { parseDocument } from "../../../src/json/document.ts";
import { definitionExtensions, type DefinedNetwork, networkFor } from "../../../src/npwg/network-for-definition.ts";
import { labelProblem } from "../../../src/npwg/object-names.ts";
import {
  configurationFile,
  readConfigurationDirectory,
  withSubdirectoryPlugins,
} from "../../store/files/configuration-directory.ts";
import { storeFault } from "../../store/files/durable-file.ts";
import { errnoOf } from "../../store/files/errno.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";
import { setNetworkList } from "../../store/networks/set-network.ts";
import type { ConfigurationContext, PlanContext } from "../call.ts";
import type { DefinitionPolicy } from "../../../src/configuration/keys/definition-keys.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { quote } from "../../../src/json/quote.ts";
import { broughtResultRefusal } from "../../../src/npwg/definition-plugins.ts";
import type { NetworkAttachmentDefinition } from "../../../src/npwg/network-attachment-definition.ts";
import type { BoundNetwork } from "../planned/attachment-plan.ts";

/** A network that the host configuration names. */
export interface NamedNetwork {
  readonly list: NetworkList;
  /** The name in the pod's network status: `namespace/name` of a definition, otherwise the network's own name (N12-03). */
  readonly statusName: string;
  /** Whether the network comes from a NetworkAttachmentDefinition of the API. */
  readonly defined: boolean;
  /** The network's file, if the configuration names a path. */
  readonly path?: string;
}

/**
 * Finds the network of this name. `key` is the configuration's key that has the name. Faults: NETWORK_UNKNOWN, CLUSTER_UNREADABLE,
 * CONFIG_NOT_JSON, CONFIG_INVALID, STORE_FAILED.
 */
export async function namedNetwork(call: PlanContext, key: string, name: string): Promise<Result<NamedNetwork>> {
  const cluster = isPath(name) || labelProblem(name) !== undefined ? undefined : await call.cluster();
  if (cluster === undefined) return networkOnDisk(call, key, name);
  const namespace = call.configuration.multusNamespace;
  const definition = await cluster.networkAttachmentDefinition(namespace, name);
  if (!definition.ok) {
    // Only a missing definition permits the file of the same name. With an unreadable one, the pod would get another network.
    if (definition.fault.kind === "NETWORK_NOT_FOUND") return networkOnDisk(call, key, name);
    return failed({ ...definition.fault, msg: `${key}: ${definition.fault.msg}` });
  }
  const network = definitionNetwork(call.configuration, definition.value);
  if (!network.ok) return failed({ ...network.fault, msg: `${key}: ${network.fault.msg}` });
  for (const warning of network.value.warnings) call.warn(warning);
  return ok({ list: network.value.list, statusName: `${namespace}/${name}`, defined: true });
}

/** Finds the network of this name without the API. Faults: NETWORK_UNKNOWN, CONFIG_NOT_JSON, CONFIG_INVALID, STORE_FAILED. */
export function networkOnDisk(context: ConfigurationContext, key: string, name: string): Result<NamedNetwork> {
  const { cniDir, confDir, multusNamespace } = context.configuration;
  if (isPath(name)) return networkAt(context, key, name);
  const set = setNetworkList(cniDir, name);
  if (!set.ok) return failed({ ...set.fault, msg: `${key}: ${set.fault.msg}` });
  if (set.value !== undefined) return ok({ list: set.value, statusName: set.value.name, defined: false });
  const directory = readConfigurationDirectory(confDir);
  const found = directory.ok ? findNetwork(directory.value, name, false, definitionExtensions) : directory;
  if (found.ok) return ok({ list: found.value.list, statusName: found.value.list.name, defined: false });
  const { msg, details } = found.fault;
  if (found.fault.kind !== "NETWORK_UNKNOWN") return failed({ ...found.fault, msg: `${key}: ${msg}` });
  const why = `${key}: ${msg}, and no NetworkAttachmentDefinition ${multusNamespace}/${name} is known`;
  return failed({ ...found.fault, msg: why, ...(details === undefined ? {} : { details }) });
}

/** Whether the name is a path. As in Multus, a slash makes it one. */
function isPath(name: string): boolean {
  return name.includes("/");
}

function networkAt(context: ConfigurationContext, key: string, name: string): Result<NamedNetwork> {
  if (!name.startsWith("/")) {
    return failed(fault("CONFIG_INVALID", `${key}: ${name} is neither a name nor an absolute path`));
  }
  try {
    if (!statSync(name).isDirectory()) return readNetwork(context, key, name);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return failed(fault("NETWORK_UNKNOWN", `${key}: there is no ${name}`));
    return failed(storeFault(`${key}: reading`, name, error));
  }
  const directory = readConfigurationDirectory(name);
  if (!directory.ok) return directory;
  const { lists, singles } = definitionExtensions;
  for (const { path } of filesWith([...lists, ...singles], directory.value.files)) {
    const network = readNetwork(context, key, path);
    const isPlexus = network.ok && network.value.list.plugins.some(({ type }) => isPlexusName(type, context.configuration));
    if (!isPlexus) return network;
    context.warn(`${key}: ${path} is skipped: it is the configuration of Plexus itself, which does not delegate to itself`);
  }
  return failed(fault("NETWORK_UNKNOWN", `${key}: directory ${name} has no configuration`));
}

function readNetwork(context: ConfigurationContext, key: string, path: string): Result<NamedNetwork> {
  let text: string;
  try {
    text = readRegularFile(path, configurationFile);
  } catch (error) {
    return failed(storeFault(`${key}: reading`, path, error));
  }
  const parsed = parseDocument(text, { what: path });
  if (!parsed.ok) return parsed;
  // The members of the file decide, not its extension.
  const single = parsed.value.members.has("type") && !parsed.value.members.has("plugins");
  const inline = parsed.value.members.has("plugins") || single;
  const list = inline ? inlineNetwork(text, path, context.configuration) : parseNetworkList(text, path);
  if (list.ok && single) warnOfUnusedDirectory(context, list.value, path);
  const whole = list.ok && !single ? withSubdirectoryPlugins(list.value, path) : list;
  return whole.ok ? ok({ list: whole.value, statusName: whole.value.name, defined: false, path }) : whole;
}

/** Warns of a directory with further plugins beside a single configuration: libcni adds plugins to lists only (MC-21). */
function warnOfUnusedDirectory({ warn }: ConfigurationContext, list: NetworkList, path: string): void {
  const directory = readConfigurationDirectory(join(dirname(path), list.name));
  if (!directory.ok || filesWith([".conf"], directory.value.files).length === 0) return;
  warn(
    `${directory.value.path} has no effect: ${path} is a single configuration; write it as a list (plugins: [...]) to add plugins`,
  );
}

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
