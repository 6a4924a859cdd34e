// Translates a network of the CRI Network API to a configuration list (CR-05).

import { type NetworkList, parseNetworkList } from "../../../src/cni/network-list.ts";
import { isSupportedVersion, SUPPORTED_VERSIONS } from "../../../src/cni/versions.ts";
import { plexusTypeIn } from "../../../src/configuration/definition-policy.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { editMembers, isJsonObject, memberValue, parseDocument } from "../../../src/json/document.ts";
import { quote } from "../../../src/json/quote.ts";
import { readCidr } from "../../../src/net/ip.ts";
import { type CniPluginConfig, type NetworkConfig, networkKey } from "./network-config.ts";

/** A network's configuration list. */
export interface TranslatedNetwork {
  readonly list: NetworkList;
  /** Sentences about fields without effect. */
  readonly warnings: readonly string[];
}

/** Maximum size of the list's text, and of a message's parameters, in bytes of UTF-8. 100 networks then fit into one gRPC message of 4 MiB. */
export const maxListBytes = 32 * 1024;
/** Maximum nesting of a parameter's JSON. */
const maxDepth = 24;

/** Keys that other fields of the message have, or that Plexus and the runtime write. Go's JSON reader ignores the case of keys. */
const reservedKeys: ReadonlySet<string> = new Set(["type", "name", "cniversion", "capabilities", "prevresult", "runtimeconfig"]);

/** IPAM plugins with the key `ranges` of the reference plugin host-local. */
const rangedIpam: ReadonlySet<unknown> = new Set(["host-local", "ipam-host-local"]);
/** Keys of host-local by which a configuration names its addresses. */
const addressKeys: readonly string[] = ["ranges", "subnet", "rangeStart", "rangeEnd"];

/**
 * The network's list. The list never takes plugins from a subdirectory. Fault NETWORK_CONFIG_INVALID: the version, a type or a parameter breaks
 * a rule, the list is too long, or a plugin is Plexus itself.
 */
export function toConflist(config: NetworkConfig): Result<TranslatedNetwork> {
  const where = `network ${networkKey(config.metadata)}: cniv1_config`;
  if (!isSupportedVersion(config.cniVersion))
    return refuse(
      `${where}.cni_version ${quote(config.cniVersion, 40)} is not supported; use one of ${SUPPORTED_VERSIONS.join(", ")}`,
    );
  // The list has no white space around the JSON of a parameter, but the stored message and each answer do.
  const parameterBytes = utf8Length(config.plugins.flatMap(({ parameters }) => [...parameters].flat()).join(""));
  if (parameterBytes > maxListBytes)
    return refuse(`${where} has parameters of ${parameterBytes} bytes; at most ${maxListBytes} are allowed`);
  const plugins: string[] = [];
  let ranged = false;
  for (const [index, plugin] of config.plugins.entries()) {
    const text = pluginText(plugin, config.ipRanges, `${where}.plugins[${index}]`);
    if (!text.ok) return text;
    plugins.push(text.value.text);
    ranged ||= text.value.ranged;
  }
  const members = [
    `"cniVersion":${JSON.stringify(config.cniVersion)}`,
    `"name":${JSON.stringify(config.networkName)}`,
    `"disableCheck":${config.disableCheck}`,
    `"loadOnlyInlinedPlugins":true`,
    `"plugins":[${plugins.join(",")}]`,
  ];
  const text = `{${members.join(",")}}`;
  const listBytes = utf8Length(text);
  if (listBytes > maxListBytes) return refuse(`${where} makes a list of ${listBytes} bytes; at most ${maxListBytes} are allowed`);
  const list = parseNetworkList(text, where);
  if (!list.ok) return refuse(list.fault.msg);
  const plexus = list.value.plugins
    .map(({ document }) => plexusTypeIn(document.parsed, { type: "" }))
    .find((type) => type !== undefined);
  if (plexus !== undefined)
    return refuse(`${where}: the type ${quote(plexus, 60)} is Plexus itself, which cannot be its own delegate`);
  const unused = `${where}: ip_ranges has no effect: no plugin has an ipam of type host-local that names no addresses`;
  return ok({ list: list.value, warnings: config.ipRanges.length > 0 && !ranged ? [unused] : [] });
}

/** The plugin's object, and whether it has the network's ranges. */
function pluginText(
  { type, capabilities, parameters }: CniPluginConfig,
  ranges: readonly string[],
  where: string,
): Result<{ readonly text: string; readonly ranged: boolean }> {
  const members = [`"type":${JSON.stringify(type)}`];
  if (capabilities.length > 0)
    members.push(`"capabilities":{${capabilities.map((name) => `${JSON.stringify(name)}:true`).join(",")}}`);
  let ranged = false;
  const keys = new Set<string>();
  for (const [key, text] of parameters) {
    const folded = key.toLowerCase();
    if (reservedKeys.has(folded)) return refuse(`${where}: parameters.${quote(key, 60)} is reserved`);
    // A Go plugin would use the last of both, and other plugins the one with the exact name.
    if (keys.has(folded)) return refuse(`${where}: parameters has ${quote(key, 60)} twice, in different cases of letters`);
    keys.add(folded);
    const value = parameterText(text, `${where}: parameters.${quote(key, 60)}`);
    if (!value.ok) return value;
    const withRanges = key === "ipam" && ranges.length > 0 ? rangedText(value.value, ranges) : undefined;
    ranged ||= withRanges !== undefined;
    members.push(`${JSON.stringify(key)}:${withRanges ?? value.value}`);
  }
  return ok({ text: `{${members.join(",")}}`, ranged });
}

/** The JSON of a parameter: its text if that is JSON, otherwise a string. */
function parameterText(text: string, where: string): Result<string> {
  try {
    JSON.parse(text);
  } catch {
    return ok(JSON.stringify(text));
  }
  // The rules for configurations: no key twice, and no endless nesting.
  const checked = parseDocument(`{"value":${text}}`, { what: where, maxDepth });
  return checked.ok ? ok(text.trim()) : refuse(checked.fault.msg);
}

/** An `ipam` object with the ranges, one set for each family; undefined if the object is not host-local's or names addresses. */
function rangedText(text: string, ranges: readonly string[]): string | undefined {
  if (!text.startsWith("{")) return undefined;
  const ipam = parseDocument(text, { what: "ipam" });
  if (!ipam.ok || !rangedIpam.has(memberValue(ipam.value, "type"))) return undefined;
  if (!isJsonObject(ipam.value.parsed) || addressKeys.some((key) => ipam.value.members.has(key))) return undefined;
  const sets = [4, 6].map((family) =>
    ranges.filter((cidr) => readCidr(cidr)?.address.family === family).map((subnet) => ({ subnet })),
  );
  const value = JSON.stringify(sets.filter((set) => set.length > 0));
  return editMembers(ipam.value, new Map([["ranges", value]]));
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}

function refuse(why: string): Result<never> {
  return failed(fault("NETWORK_CONFIG_INVALID", why));
}
