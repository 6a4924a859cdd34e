// The messages of the CRI Network API as data, and the rules for a network that a client sets (deploy/proto/network.proto).

import { checkNetworkName } from "../../../src/cni/attachment.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { describeJson, isJsonObject } from "../../../src/json/document.ts";
import { quote } from "../../../src/json/quote.ts";
import { readCidr } from "../../../src/net/ip.ts";
import { labelProblem } from "../../../src/npwg/object-names.ts";

/** A network's identity (namespace and name), and its version. */
/** The name of a network. */
export interface NetworkName {
  readonly name: string;
  readonly namespace: string;
}

export interface NetworkMetadata extends NetworkName {
  readonly uid: string;
  readonly generation: number;
}

/** One plugin of a network. */
export interface CniPluginConfig {
  readonly type: string;
  readonly capabilities: readonly string[];
  readonly parameters: ReadonlyMap<string, string>;
}

/** A network as a client sets it. `networkName` is the name for CNI. */
export interface NetworkConfig {
  readonly metadata: NetworkMetadata;
  /** Prefixes of addresses. */
  readonly ipRanges: readonly string[];
  readonly cniVersion: string;
  readonly networkName: string;
  readonly disableCheck: boolean;
  readonly plugins: readonly CniPluginConfig[];
}

/** The name of the network on the disk, which no client can set (CR-12, CR-13). */
export const fallbackName = "_fallback";

/** Limits of a network. Lengths are UTF-16 units. */
export const networkLimits = {
  name: 253,
  networkName: 128,
  uid: 128,
  ipRanges: 32,
  plugins: 32,
  capabilities: 32,
  capability: 64,
  parameters: 64,
  parameterKey: 128,
  parameterValue: 16 * 1024,
} as const;

const objectName = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;
const capabilityName = /^[a-zA-Z0-9][a-zA-Z0-9_./-]*$/;

/**
 * Reads a NetworkConfig message. An unset field has its default value, as in protobuf's JSON form with defaults. Fault NETWORK_CONFIG_INVALID,
 * with the field's name.
 */
export function readNetworkConfig(message: unknown): Result<NetworkConfig> {
  if (!isJsonObject(message)) return refuse("config is missing");
  const metadata = readNetworkMetadata(message["metadata"]);
  if (!metadata.ok) return metadata;
  const where = `network ${networkKey(metadata.value)}`;
  const type = message["network_type"] ?? "CNIv1";
  if (type !== "CNIv1" && type !== 0)
    return refuse(`${where}: network_type ${quote(String(type), 40)} is unknown; only CNIv1 is supported`);
  const ranges = readRanges(message["ip_ranges"] ?? [], where);
  if (!ranges.ok) return ranges;
  const cni = message["cniv1_config"];
  if (!isJsonObject(cni)) return refuse(`${where}: cniv1_config is missing`);
  const networkName = textOf(cni["network_name"]) || metadata.value.name;
  const named = checkNetworkName(networkName);
  if (!named.ok) return refuse(`${where}: cniv1_config.network_name: ${named.fault.msg}`);
  if (networkName.length > networkLimits.networkName)
    return refuse(
      `${where}: cniv1_config.network_name has ${networkName.length} characters; at most ${networkLimits.networkName} are allowed`,
    );
  const plugins = readPlugins(cni["plugins"], `${where}: cniv1_config`);
  if (!plugins.ok) return plugins;
  return ok({
    metadata: metadata.value,
    ipRanges: ranges.value,
    cniVersion: textOf(cni["cni_version"]),
    networkName,
    disableCheck: cni["disable_check"] === true,
    plugins: plugins.value,
  });
}

/** Reads a NetworkMetadata message. Fault NETWORK_CONFIG_INVALID. */
export function readNetworkMetadata(message: unknown): Result<NetworkMetadata> {
  if (!isJsonObject(message)) return refuse("metadata is missing");
  const [name, namespace, uid] = [textOf(message["name"]), textOf(message["namespace"]), textOf(message["uid"])];
  if (name === fallbackName)
    return refuse(`metadata.name ${fallbackName} is reserved for the network on the disk; choose another name`);
  if (name.length > networkLimits.name || !objectName.test(name))
    return refuse(
      `metadata.name ${quote(name, 60)} must have 1 to ${networkLimits.name} letters, digits, "_", "." and "-", a letter or digit first`,
    );
  const namespaceProblem = namespace === "" ? undefined : labelProblem(namespace);
  if (namespaceProblem !== undefined) return refuse(`metadata.namespace ${quote(namespace, 60)} ${namespaceProblem}`);
  if (uid.length > networkLimits.uid || !/^[!-~]*$/.test(uid))
    return refuse(`metadata.uid must have at most ${networkLimits.uid} printable ASCII characters without spaces`);
  const generation = Number(message["generation"] ?? 0);
  if (!Number.isInteger(generation) || generation < 0 || generation > 0xffff_ffff)
    return refuse("metadata.generation must be an integer from 0 to 4294967295");
  return ok({ name, namespace, uid, generation });
}

/** The key of a network in messages and tables: `namespace/name`, or `name` without a namespace. */
export function networkKey({ namespace, name }: NetworkName): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}

/** The message of a network, for an answer or a stored file. */
export function networkMessage(config: NetworkConfig): object {
  const plugins = config.plugins.map(({ type, capabilities, parameters }) => ({
    type,
    capabilities,
    parameters: Object.fromEntries(sorted(parameters)),
  }));
  return {
    metadata: config.metadata,
    ip_ranges: config.ipRanges.map((cidr) => ({ cidr })),
    network_type: "CNIv1",
    cniv1_config: {
      cni_version: config.cniVersion,
      network_name: config.networkName,
      disable_check: config.disableCheck,
      plugins,
    },
  };
}

function readRanges(value: unknown, where: string): Result<readonly string[]> {
  if (!Array.isArray(value)) return refuse(`${where}: ip_ranges must be a list, but is ${describeJson(value)}`);
  if (value.length > networkLimits.ipRanges)
    return refuse(`${where}: ip_ranges has ${value.length} entries; at most ${networkLimits.ipRanges} are allowed`);
  const ranges: string[] = [];
  for (const [index, each] of value.entries()) {
    const cidr = isJsonObject(each) ? textOf(each["cidr"]) : "";
    if (readCidr(cidr) === undefined) return refuse(`${where}: ip_ranges[${index}].cidr ${quote(cidr, 60)} is not a prefix`);
    ranges.push(cidr);
  }
  return ok(ranges);
}

function readPlugins(value: unknown, where: string): Result<readonly CniPluginConfig[]> {
  if (!Array.isArray(value) || value.length === 0) return refuse(`${where}: plugins is empty`);
  if (value.length > networkLimits.plugins)
    return refuse(`${where}: plugins has ${value.length} entries; at most ${networkLimits.plugins} are allowed`);
  const plugins: CniPluginConfig[] = [];
  for (const [index, each] of value.entries()) {
    const plugin = readPlugin(each, `${where}.plugins[${index}]`);
    if (!plugin.ok) return plugin;
    plugins.push(plugin.value);
  }
  return ok(plugins);
}

function readPlugin(value: unknown, where: string): Result<CniPluginConfig> {
  if (!isJsonObject(value)) return refuse(`${where} must be a message, but is ${describeJson(value)}`);
  const listed = Array.isArray(value["capabilities"]) ? value["capabilities"].map(String) : [];
  const { capabilities: maxCapabilities, capability: maxName } = networkLimits;
  if (listed.length > maxCapabilities)
    return refuse(`${where}: capabilities has ${listed.length} entries; at most ${maxCapabilities} are allowed`);
  const unnamed = listed.find((name) => name.length > maxName || !capabilityName.test(name));
  if (unnamed !== undefined) return refuse(`${where}: ${quote(unnamed, 40)} is not the name of a capability`);
  const given = isJsonObject(value["parameters"]) ? Object.entries(value["parameters"]) : [];
  if (given.length > networkLimits.parameters)
    return refuse(`${where}: parameters has ${given.length} entries; at most ${networkLimits.parameters} are allowed`);
  const parameters = new Map<string, string>();
  for (const [key, text] of sorted(given)) {
    if (key === "" || key.length > networkLimits.parameterKey)
      return refuse(`${where}: a key of parameters has ${key.length} characters; 1 to ${networkLimits.parameterKey} are allowed`);
    if (typeof text !== "string") return refuse(`${where}: parameters.${quote(key, 60)} must be a string`);
    if (text.length > networkLimits.parameterValue)
      return refuse(
        `${where}: parameters.${quote(key, 60)} has ${text.length} characters; at most ${networkLimits.parameterValue} are allowed`,
      );
    parameters.set(key, text);
  }
  return ok({ type: textOf(value["type"]), capabilities: [...new Set(listed)], parameters });
}

/** A map of protobuf has no order: two encoders may send the same map differently. */
function sorted<T>(entries: Iterable<readonly [string, T]>): readonly (readonly [string, T])[] {
  return [...entries].toSorted(([left], [right]) => (left < right ? -1 : 1));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function refuse(why: string): Result<never> {
  return failed(fault("NETWORK_CONFIG_INVALID", why));
}
