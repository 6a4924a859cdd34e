// A network configuration list (CNI 1.1.0 section 1, L-15..L-22): the fields that a chain needs, and each plugin's object as its
// original text.

import type { FaultKind } from "../fault/catalogue.ts";
import { type Fault, fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import {
  describeJson,
  documentWithin,
  editMembers,
  elementTexts,
  isJsonObject,
  type JsonObjectDocument,
  memberText,
  memberValue,
  parseDocument,
} from "../json/document.ts";
import { quote } from "../json/quote.ts";
import { RecentTexts } from "../json/recent-texts.ts";
import { checkNetworkName } from "./attachment.ts";
import { negotiateVersion } from "./versions.ts";

/** One plugin of a list: one step of the chain. */
export interface PluginConf {
  readonly type: string;
  /** The object's own `name`, for messages. Plugins get the list's name. */
  readonly name: string;
  /** The object as written: numbers, unknown keys and key order are kept. */
  readonly document: JsonObjectDocument;
  /** Names of the capabilities that are true, in the order of the text. */
  readonly capabilities: readonly string[];
  /** `ipam.type`, if present. */
  readonly ipamType: string | undefined;
}

/** A network configuration list. */
export interface NetworkList {
  readonly name: string;
  /** The negotiated version (L-16); empty if the list names none, which means 0.1.0. */
  readonly cniVersion: string;
  readonly disableCheck: boolean;
  readonly disableGC: boolean;
  readonly loadOnlyInlinedPlugins: boolean;
  /** In chain order: the list's own plugins, then those of its subdirectory. */
  readonly plugins: readonly PluginConf[];
  /** Number of the plugins that are in `text`. */
  readonly inlined: number;
  /** The list as written, without its subdirectory's plugins: libcni's cache keeps this text. */
  readonly text: string;
}

function invalid(what: string, why: string, kind: FaultKind = "CONFIG_INVALID"): { readonly ok: false; readonly fault: Fault } {
  return failed(fault(kind, `${what}: ${why}`));
}

/** A member that must be a string if present. */
function optionalString(document: JsonObjectDocument, key: string, what: string): Result<string> {
  const value = memberValue(document, key);
  if (value === undefined) return ok("");
  return typeof value === "string" ? ok(value) : invalid(what, `${key} must be a string, but is ${describeJson(value)}`);
}

function stringUnlessNull(document: JsonObjectDocument, key: string, what: string): Result<string> {
  return memberValue(document, key) === null ? ok("") : optionalString(document, key, what);
}

/** A member that is a boolean, or "true" or "false" in any case (L-17). */
function readBoolean(document: JsonObjectDocument, key: string, what: string): Result<boolean> {
  const value = memberValue(document, key);
  if (value === undefined) return ok(false);
  if (typeof value === "boolean") return ok(value);
  if (typeof value !== "string") return invalid(what, `${key} must be true or false, but is ${describeJson(value)}`);
  const lower = value.toLowerCase();
  if (lower === "true" || lower === "false") return ok(lower === "true");
  return invalid(what, `${key} must be true or false, but is ${quote(value, 40)}`);
}

function readCapabilities(document: JsonObjectDocument, what: string): Result<readonly string[]> {
  const value = memberValue(document, "capabilities");
  if (value === undefined || value === null) return ok([]);
  if (!isJsonObject(value)) return invalid(what, `capabilities must be an object, but is ${describeJson(value)}`);
  const names: string[] = [];
  for (const [name, wanted] of Object.entries(value)) {
    if (wanted === null) continue;
    if (typeof wanted !== "boolean") {
      return invalid(what, `capabilities.${quote(name, 60)} must be true or false, but is ${describeJson(wanted)}`);
    }
    if (wanted) names.push(name);
  }
  return ok(names);
}

function readIpamType(document: JsonObjectDocument, what: string): Result<string | undefined> {
  const ipam = memberValue(document, "ipam");
  if (ipam === undefined || ipam === null) return ok(undefined);
  if (!isJsonObject(ipam)) return invalid(what, `ipam must be an object, but is ${describeJson(ipam)}`);
  const type = Object.hasOwn(ipam, "type") ? ipam["type"] : undefined;
  if (type === undefined || type === null || type === "") return ok(undefined);
  if (typeof type !== "string") return invalid(what, `ipam.type must be a string, but is ${describeJson(type)}`);
  return checkPluginType(type, `${what}: ipam`);
}

/** A type must name a file in a directory of CNI_PATH, and cannot leave that directory (L-08). */
function checkPluginType(type: string, what: string): Result<string> {
  if (/[/\0]/.test(type) || type === "." || type === "..") {
    return invalid(what, `type ${quote(type)} is not the name of a plugin: a name without "/" is needed`);
  }
  return ok(type);
}

/** Reads one plugin's object. Faults: CONFIG_NOT_JSON (6), CONFIG_INVALID (7), each with the field's name. */
export function parsePluginConf(text: string, what: string): Result<PluginConf> {
  const document = parseDocument(text, { what });
  return document.ok ? pluginConfOf(document.value, what) : document;
}

/** Like `parsePluginConf`, of an object that was parsed already. As for libcni, null in a plugin's object means an absent member. */
export function pluginConfOf(document: JsonObjectDocument, what: string): Result<PluginConf> {
  const type = stringUnlessNull(document, "type", what);
  if (!type.ok) return type;
  if (type.value === "") return invalid(what, "missing 'type'");
  const checked = checkPluginType(type.value, what);
  if (!checked.ok) return checked;
  const name = stringUnlessNull(document, "name", what);
  if (!name.ok) return name;
  const version = stringUnlessNull(document, "cniVersion", what);
  if (!version.ok) return version;
  const capabilities = readCapabilities(document, what);
  if (!capabilities.ok) return capabilities;
  const ipamType = readIpamType(document, what);
  if (!ipamType.ok) return ipamType;
  return ok({
    type: type.value,
    name: name.value,
    document,
    capabilities: capabilities.value,
    ipamType: ipamType.value,
  });
}

function readVersion(document: JsonObjectDocument, what: string): Result<string> {
  const cniVersion = optionalString(document, "cniVersion", what);
  if (!cniVersion.ok) return cniVersion;
  const listed = memberValue(document, "cniVersions");
  if (listed === undefined) return cniVersion;
  if (!Array.isArray(listed)) return invalid(what, `cniVersions must be a list of strings, but is ${describeJson(listed)}`);
  const versions: string[] = [];
  for (const [index, entry] of listed.entries()) {
    if (typeof entry !== "string") return invalid(what, `cniVersions[${index}] must be a string, but is ${describeJson(entry)}`);
    versions.push(entry);
  }
  const negotiated = negotiateVersion(cniVersion.value, versions);
  return negotiated.ok ? negotiated : invalid(what, `cniVersions: ${negotiated.fault.msg}`);
}

function readPlugins(document: JsonObjectDocument, loadOnlyInlined: boolean, what: string): Result<readonly PluginConf[]> {
  const text = memberText(document, "plugins");
  if (text === undefined) {
    if (!loadOnlyInlined) return ok([]);
    return invalid(what, "`loadOnlyInlinedPlugins` is true, and no 'plugins' key");
  }
  const value = memberValue(document, "plugins");
  if (!Array.isArray(value)) return invalid(what, `plugins must be a list, but is ${describeJson(value)}`);
  if (value.length === 0) return invalid(what, "no plugins in list");
  const plugins: PluginConf[] = [];
  for (const [index, element] of elementTexts(text).entries()) {
    const each: unknown = value[index];
    const at = `${what}: plugins[${index}]`;
    // The list was parsed as a whole, so an object in it is not parsed again.
    const plugin = isJsonObject(each) ? pluginConfOf(documentWithin(element, each), at) : parsePluginConf(element, at);
    if (!plugin.ok) return plugin;
    plugins.push(plugin.value);
  }
  return ok(plugins);
}

/**
 * Reads a list. `what` names it in messages ("configuration list 10-a.conflist"). `plugins` may be missing, because the
 * subdirectory may have some: `appendSubdirectoryPlugins` checks that there is any. The name is checked here (L-01), because it
 * becomes part of paths (L-21). Faults: CONFIG_NOT_JSON (6), CONFIG_INVALID (7).
 */
export function parseNetworkList(text: string, what = "network configuration list"): Result<NetworkList> {
  const same = recent.get(text);
  if (same !== undefined) return ok(same);
  const list = readNetworkList(text, what);
  if (list.ok) recent.put(text, list.value);
  return list;
}

/** The lists of the networks that pods on this node use. */
const recent = new RecentTexts<NetworkList>({ maxTexts: 16, maxLength: 16 * 1024 });

function readNetworkList(text: string, what: string): Result<NetworkList> {
  const read = parseDocument(text, { what });
  return read.ok ? networkListOf(read.value, what) : read;
}

/** Like `parseNetworkList`, of a list that was parsed already. */
export function networkListOf(document: JsonObjectDocument, what: string): Result<NetworkList> {
  if (!document.members.has("name")) return invalid(what, "no name");
  const name = optionalString(document, "name", what);
  if (!name.ok) return name;
  const checked = checkNetworkName(name.value);
  if (!checked.ok) return invalid(what, checked.fault.msg);
  const cniVersion = readVersion(document, what);
  if (!cniVersion.ok) return cniVersion;
  const disableCheck = readBoolean(document, "disableCheck", what);
  if (!disableCheck.ok) return disableCheck;
  const disableGC = readBoolean(document, "disableGC", what);
  if (!disableGC.ok) return disableGC;
  const loadOnlyInlinedPlugins = readBoolean(document, "loadOnlyInlinedPlugins", what);
  if (!loadOnlyInlinedPlugins.ok) return loadOnlyInlinedPlugins;
  const plugins = readPlugins(document, loadOnlyInlinedPlugins.value, what);
  if (!plugins.ok) return plugins;
  return ok({
    name: name.value,
    cniVersion: cniVersion.value,
    disableCheck: disableCheck.value,
    disableGC: disableGC.value,
    loadOnlyInlinedPlugins: loadOnlyInlinedPlugins.value,
    plugins: plugins.value,
    inlined: plugins.value.length,
    text: document.text,
  });
}

/** A single plugin's configuration, older than lists, as a list of one plugin (L-24). */
export function listOfOne(plugin: PluginConf, what = "network configuration"): Result<NetworkList> {
  const { document } = plugin;
  const object = document.text.trim();
  const checked = checkNetworkName(plugin.name);
  if (!checked.ok) return invalid(what, checked.fault.msg);
  const cniVersion = versionText(plugin);
  // The plugin's object was read already, so the list's text is not parsed again.
  return ok({
    name: plugin.name,
    cniVersion,
    disableCheck: false,
    disableGC: false,
    loadOnlyInlinedPlugins: false,
    plugins: [object === document.text ? plugin : { ...plugin, document: documentWithin(object, document.parsed) }],
    inlined: 1,
    text: `{"name":${JSON.stringify(plugin.name)},"cniVersion":${JSON.stringify(cniVersion)},"plugins":[${object}]}`,
  });
}

function versionText({ document }: PluginConf): string {
  const named = memberValue(document, "cniVersion");
  return typeof named === "string" ? named : "";
}

/** The types of the list's plugins, and of the IPAM plugins that they call. */
export function pluginTypes({ plugins }: NetworkList): readonly string[] {
  return plugins.flatMap(({ type, ipamType }) => (ipamType === undefined ? [type] : [type, ipamType]));
}

/** The list under another name. Faults: those of `parseNetworkList`. */
export function withName(list: NetworkList, name: string): Result<NetworkList> {
  const what = `network ${list.name}`;
  const document = parseDocument(selfContainedText(list), { what });
  if (!document.ok) return document;
  return parseNetworkList(editMembers(document.value, new Map([["name", JSON.stringify(name)]])), what);
}

/** The list without its plugins of these types; the list itself if no other plugin would remain. */
export function withoutTypes(list: NetworkList, types: readonly string[]): NetworkList {
  const remaining = (each: PluginConf): boolean => !types.includes(each.type);
  const plugins = list.plugins.filter(remaining);
  if (plugins.length === list.plugins.length || plugins.length === 0) return list;
  const inlined = list.plugins.slice(0, list.inlined).filter(remaining);
  const document = parseDocument(list.text, { what: `network ${list.name}` });
  const texts = inlined.map((plugin) => plugin.document.text.trim()).join(",");
  const text = document.ok ? editMembers(document.value, new Map([["plugins", `[${texts}]`]])) : list.text;
  return { ...list, plugins, inlined: inlined.length, text };
}

/**
 * The list as one text with all its plugins, including those of its subdirectory, so that it can be read again after the
 * directory has changed. The original text if nothing was appended.
 */
export function selfContainedText(list: NetworkList): string {
  if (list.inlined === list.plugins.length) return list.text;
  const plugins = list.plugins.map((plugin) => plugin.document.text.trim()).join(",");
  return `{"cniVersion":${JSON.stringify(list.cniVersion)},"name":${JSON.stringify(list.name)},"disableCheck":${list.disableCheck},"disableGC":${list.disableGC},"loadOnlyInlinedPlugins":true,"plugins":[${plugins}]}`;
}
