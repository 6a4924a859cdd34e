// The network that a text of the configuration names (MC-06): a NetworkAttachmentDefinition in multusNamespace, else the name
// of a configuration in confDir; or a path: a directory, whose first configuration it is, or a file. Read anew by each call.

import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { filesWith, findNetwork } from "../../src/cni/config-directory.ts";
import { type NetworkList, parseNetworkList } from "../../src/cni/network-list.ts";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { parseDocument } from "../../src/json/document.ts";
import { definitionExtensions, networkFor } from "../../src/npwg/network-for-definition.ts";
import { labelProblem } from "../../src/npwg/object-names.ts";
import { configurationFile, readConfigurationDirectory, withSubdirectoryPlugins } from "../files/configuration-directory.ts";
import { storeFault } from "../files/durable-file.ts";
import { errnoOf } from "../files/errno.ts";
import { readRegularFile } from "../files/regular-file.ts";
import type { CallContext } from "./call-context.ts";
import { inlineNetwork } from "../../src/cni/inline-network.ts";
import { isItself } from "./itself.ts";

export interface NamedNetwork {
  readonly list: NetworkList;
  /** What a status calls it: `namespace/name` of a definition, else the network's own name (N12-03). */
  readonly statusName: string;
  /** True: it comes from the API. */
  readonly defined: boolean;
  /** The file that it was read from, where it was one that the configuration names. */
  readonly path?: string;
}

type NamedContext = Pick<CallContext, "configuration" | "warn">;

/** `key` is the key of the configuration that names it. Faults: NETWORK_UNKNOWN, those of a configuration, CLUSTER_UNREADABLE. */
export async function namedNetwork(
  context: NamedContext & Pick<CallContext, "cluster">,
  key: string,
  named: string,
): Promise<Result<NamedNetwork>> {
  const cluster = isPath(named) || labelProblem(named) !== undefined ? undefined : await context.cluster();
  if (cluster === undefined) return networkOnDisk(context, key, named);
  const namespace = context.configuration.multusNamespace;
  const definition = await cluster.networkAttachmentDefinition(namespace, named);
  if (!definition.ok) {
    // Only a definition that isn't there makes way; one that can't be read now would give a pod another network.
    if (definition.fault.kind === "NETWORK_NOT_FOUND") return networkOnDisk(context, key, named);
    return failed({ ...definition.fault, msg: `${key}: ${definition.fault.msg}` });
  }
  const directory =
    definition.value.config === undefined ? readConfigurationDirectory(context.configuration.confDir) : ok(undefined);
  if (!directory.ok) return directory;
  const network = networkFor(definition.value, directory.value);
  if (!network.ok) return failed({ ...network.fault, msg: `${key}: ${network.fault.msg}` });
  for (const warning of network.value.warnings) context.warn(warning);
  return ok({ list: network.value.list, statusName: `${namespace}/${named}`, defined: true });
}

/** The same without asking a cluster. */
export function networkOnDisk(context: NamedContext, key: string, named: string): Result<NamedNetwork> {
  const { confDir, multusNamespace } = context.configuration;
  if (isPath(named)) return networkAt(context, key, named);
  const directory = readConfigurationDirectory(confDir);
  const found = directory.ok ? findNetwork(directory.value, named, false, definitionExtensions) : directory;
  if (found.ok) return ok({ list: found.value.list, statusName: found.value.list.name, defined: false });
  const { msg, details } = found.fault;
  if (found.fault.kind !== "NETWORK_UNKNOWN") return failed({ ...found.fault, msg: `${key}: ${msg}` });
  const both = `${key}: ${msg}, and no NetworkAttachmentDefinition ${multusNamespace}/${named} is known`;
  return failed({ ...found.fault, msg: both, ...(details === undefined ? {} : { details }) });
}

/** What Multus takes for a path: whatever has a slash in it. */
function isPath(named: string): boolean {
  return named.includes("/");
}

function networkAt(context: NamedContext, key: string, named: string): Result<NamedNetwork> {
  if (!named.startsWith("/")) {
    return failed(fault("CONFIG_INVALID", `${key}: ${named} is neither a name nor an absolute path`));
  }
  try {
    if (!statSync(named).isDirectory()) return readNetwork(context, key, named);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return failed(fault("NETWORK_UNKNOWN", `${key}: there is no ${named}`));
    return failed(storeFault(`${key}: reading`, named, error));
  }
  const directory = readConfigurationDirectory(named);
  if (!directory.ok) return directory;
  const { lists, singles } = definitionExtensions;
  for (const { path } of filesWith([...lists, ...singles], directory.value.files)) {
    const network = readNetwork(context, key, path);
    const own = network.ok && network.value.list.plugins.some(({ type }) => isItself(type, context.configuration));
    if (!own) return network;
    context.warn(`${key}: passed over ${path}: Plexus doesn't delegate to itself`);
  }
  return failed(fault("NETWORK_UNKNOWN", `${key}: directory ${named} has no configuration`));
}

function readNetwork(context: NamedContext, key: string, path: string): Result<NamedNetwork> {
  let text: string;
  try {
    text = readRegularFile(path, configurationFile);
  } catch (error) {
    return failed(storeFault(`${key}: reading`, path, error));
  }
  const parsed = parseDocument(text, { what: path });
  if (!parsed.ok) return parsed;
  // What the file holds decides, not its ending.
  const single = parsed.value.members.has("type") && !parsed.value.members.has("plugins");
  const inline = parsed.value.members.has("plugins") || single;
  const list = inline ? inlineNetwork(text, path, context.configuration) : parseNetworkList(text, path);
  if (list.ok && single) warnOfIdleDirectory(context, list.value, path);
  const whole = list.ok && !single ? withSubdirectoryPlugins(list.value, path) : list;
  return whole.ok ? ok({ list: whole.value, statusName: whole.value.name, defined: false, path }) : whole;
}

/** libcni extends lists only; whoever put files there should hear that they do nothing (MC-21). */
function warnOfIdleDirectory({ warn }: NamedContext, list: NetworkList, path: string): void {
  const beside = readConfigurationDirectory(join(dirname(path), list.name));
  if (!beside.ok || filesWith([".conf"], beside.value.files).length === 0) return;
  warn(`${beside.value.path} has no effect: ${path} is a single configuration, and only a list has a chain to add to`);
}
