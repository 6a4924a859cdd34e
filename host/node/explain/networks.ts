// Reads the networks that `plexusctl explain` explains: from a file, from the host configuration, or from the cluster.

import type { NetworkList } from "../../../src/cni/network-list.ts";
import { inlineNetwork } from "../../../src/cni/inline-network.ts";
import { type DefinitionPolicy, defaultDefinitionPolicy } from "../../../src/configuration/keys/definition-keys.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { parseDocument } from "../../../src/json/document.ts";
import { placesOf } from "../../../src/json/text-places.ts";
import type { LintSource } from "../../../src/lint/finding.ts";
import {
  type NetworkAttachmentDefinition,
  readNetworkAttachmentDefinition,
} from "../../../src/npwg/network-attachment-definition.ts";
import type { DefinitionBinding } from "../../engine/planned/attachment-plan.ts";
import { boundNetwork, definitionNetwork } from "../../engine/plan/named-network.ts";
import { readDefaultNetwork, readOtherDelegates } from "../../engine/plan/default-network.ts";
import { readObjects } from "../../cluster/manifests/manifest-objects.ts";
import { openCluster } from "../../cluster/open-cluster.ts";
import { configurationFile, withSubdirectoryPlugins } from "../../store/files/configuration-directory.ts";
import { storeFault } from "../../store/files/durable-file.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";
import { type HostSettings, isMistake, settingsIn } from "./host-settings.ts";
import { definitionSources } from "./manifest-places.ts";
import { systemClock } from "../../system/clock.ts";

/** A network and where it comes from. */
export interface NamedList {
  /** The file, or `namespace/name`. */
  readonly source: string;
  readonly list: NetworkList;
  /** The namespace of the definition that the network comes from; undefined for a file's network. */
  readonly namespace?: string;
  /** The text that has the network, and its place in a file; undefined for a network whose text is unknown. */
  readonly origin?: LintSource | undefined;
  /** The definition that binds the network; undefined if the administrator configured it. */
  readonly binding?: DefinitionBinding | undefined;
}

const defaultConfDir = "/etc/cni/multus/net.d";
const defaultCniDir = "/var/lib/cni/plexus";
/** Time to end the connections to the API server after a lookup, in ms. */
const maxEndMs = 100;

/** The networks of Plexus' own configuration, to which every pod is attached. */
export function hostNetworks(settings: HostSettings, warn: (text: string) => void): Result<readonly NamedList[]> {
  const context = { ...settings, warn };
  const first = readDefaultNetwork(context);
  if (!first.ok) return first;
  const others = readOtherDelegates(context);
  if (!others.ok) return others;
  const origin = fileOrigin(settings.path);
  return ok([first.value, ...others.value].map((list) => ({ source: settings.path, origin, list })));
}

/**
 * The networks in a file: a network configuration list, a single plugin configuration, Plexus' own configuration (then its networks), or
 * Kubernetes manifests with NetworkAttachmentDefinitions. Faults: those of a call that reads the same file.
 */
export async function networksInFile(
  path: string,
  settings: HostSettings | undefined,
  cniPath: string,
  warn: (text: string) => void,
): Promise<Result<readonly NamedList[]>> {
  let text: string;
  try {
    text = readRegularFile(path, configurationFile);
  } catch (error) {
    return failed(storeFault("reading", path, error));
  }
  const origin = originOf(path, text);
  if (isNetwork(path, text)) {
    const own = settingsIn(path, cniPath);
    if (own.ok && own.value !== undefined) return hostNetworks(own.value, warn);
    if (!own.ok && isMistake(own.fault)) return own;
    const list = inlineNetwork(text, path, { name: "", cniVersion: "" });
    const whole = list.ok && !path.endsWith(".conf") ? withSubdirectoryPlugins(list.value, path) : list;
    return whole.ok ? ok([{ source: path, origin, list: whole.value }]) : whole;
  }
  const { objects, problems } = await readObjects(path, text);
  const [problem] = problems;
  if (problem !== undefined) return failed(fault("CLUSTER_UNREADABLE", problem));
  const definitions = objects.filter(({ kind }) => kind === "NetworkAttachmentDefinition");
  if (definitions.length === 0) {
    const msg = `${path} contains neither a network configuration nor a NetworkAttachmentDefinition`;
    return failed(fault("CONFIG_INVALID", msg));
  }
  const sources = await definitionSources(path, text);
  const lists: NamedList[] = [];
  for (const { object } of definitions) {
    const definition = readNetworkAttachmentDefinition(object);
    const list = definition.ok ? definedNetwork(definition.value, settings, warn) : definition;
    if (!list.ok) return list;
    lists.push({ ...list.value, origin: sources.get(list.value.source) });
  }
  return ok(lists);
}

/** The network of a NetworkAttachmentDefinition in the cluster of Plexus' configuration. Faults: those of a call that selects it. */
export async function networkInCluster(
  namespace: string,
  name: string,
  settings: HostSettings | undefined,
  warn: (text: string) => void,
): Promise<Result<readonly NamedList[]>> {
  const cluster = settings === undefined ? undefined : await openCluster(settings.configuration, warn, systemClock);
  if (cluster === undefined) {
    const why = `${namespace}/${name}: Plexus' configuration names no cluster to look in (set kubeconfig or manifests)`;
    return failed(fault("NETWORK_NOT_FOUND", why));
  }
  const definition = await cluster.networkAttachmentDefinition(namespace, name);
  await cluster.end(maxEndMs);
  const list = definition.ok ? definedNetwork(definition.value, settings, warn) : definition;
  return list.ok ? ok([list.value]) : list;
}

/** The network of a definition, bound by its namespace's rules. Faults: those of a call that selects it. */
export function definedNetwork(
  definition: NetworkAttachmentDefinition,
  settings: HostSettings | undefined,
  warn: (text: string) => void,
): Result<NamedList> {
  const { confDir, cniDir } = settings?.configuration ?? { confDir: defaultConfDir, cniDir: defaultCniDir };
  const network = definitionNetwork({ confDir, cniDir }, definition);
  if (!network.ok) return network;
  for (const warning of network.value.warnings) warn(warning);
  const bound = boundNetwork(policyOf(settings), definition, network.value.list);
  if (!bound.ok) return bound;
  return ok({ source: `${definition.namespace}/${definition.name}`, namespace: definition.namespace, ...bound.value });
}

/** A file as the origin of its networks. */
export function originOf(file: string, text: string): LintSource {
  return { file, text, place: (offset) => placesOf(text).position(offset) };
}

/** The origin of the networks in a file; undefined if it cannot be read. */
function fileOrigin(path: string): LintSource | undefined {
  try {
    return originOf(path, readRegularFile(path, configurationFile));
  } catch {
    return undefined;
  }
}

/** The policy of Plexus' configuration, or the default one if there is none. */
export function policyOf(settings: HostSettings | undefined): DefinitionPolicy {
  return settings?.configuration.definitions ?? defaultDefinitionPolicy;
}

/** Whether the text is a network configuration, and no manifest of Kubernetes. */
export function isNetwork(path: string, text: string): boolean {
  const parsed = parseDocument(text, { what: path });
  return parsed.ok && !parsed.value.members.has("apiVersion");
}
