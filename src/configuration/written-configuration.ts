// The network configuration that plexusd writes into the runtime's directory: the administrator's template, completed by the node's default
// network.

import { parseNetworkList } from "../cni/network-list.ts";
import { omittedStepsKey } from "./keys/default-network-keys.ts";
import { digestKey, type ForeignStep } from "./foreign-steps.ts";
import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { editMembers, isJsonObject, type JsonObjectDocument, memberValue, parseDocument } from "../json/document.ts";
import { allKeys } from "./keys/host-keys.ts";
import { readHostConfiguration } from "./read-host-configuration.ts";
import { readLayer } from "./layers.ts";
import type { Key } from "./table/key.ts";

/** The template that `plexusd --cni-config` names: Plexus' configuration without a default network. */
export interface ConfigurationTemplate {
  /** The list's name and version. */
  readonly name: string;
  readonly cniVersion: string;
  /** The type under which the runtime calls Plexus. */
  readonly type: string;
  /** The plugin's object, with canonical keys, without `name` and `cniVersion`. */
  readonly plugin: JsonObjectDocument;
}

/** The values that complete the template on this node. */
export interface WrittenValues {
  /** Path of the default network's file. */
  readonly clusterNetwork: string;
  /** Capabilities of the default network's plugins. */
  readonly capabilities: readonly string[];
  /** The kubeconfig, if the template names neither one nor a directory of manifests; undefined: none. */
  readonly kubeconfig: string | undefined;
  /** New pods get the default network only, because Plexus is being removed; undefined: they get their networks. */
  readonly retirement: Retirement | undefined;
  /** Steps of other programs that the runtime runs after Plexus; none by default. */
  readonly steps?: readonly ForeignStep[];
  /** Types whose steps of the default network's list are left out, because a step of this file replaces them; none by default. */
  readonly omitted?: readonly string[];
}

/** The mark of Plexus' removal in the file, for the next daemon. */
export interface Retirement {
  /** UID and generation of the daemon's DaemonSet, as `UID/GENERATION`; undefined: unknown. A daemon of another one takes the file back into force. */
  readonly daemonSet: string | undefined;
  /** Whether the removal ends when the program that began it no longer asks for it. */
  readonly held: boolean;
}

/** The key of the list that marks a file of plexusd. Runtimes ignore unknown keys of a list. */
const markKey = "writtenBy";
const mark = "plexusd";
/** The key of the list with the members of `Retirement`. */
const retirementKey = "retirement";

/** Keys that a runtime reads of a list only. */
const listFlags = ["disableCheck", "disableGC"] as const;

/** Far more keys than one object of a configuration has. */
const maxKeys = 1000;

/** The version that has STATUS and GC. */
const defaultVersion = "1.1.0";

/**
 * Reads the template: the plugin's object, or a list whose only plugin it is. Defaults: type and name `plexus`, version 1.1.0. Fault
 * TEMPLATE_INVALID names file and key.
 */
export function readTemplate(text: string, path: string): Result<ConfigurationTemplate> {
  const parsed = parseDocument(text, { what: path, kind: "TEMPLATE_INVALID", maxKeys });
  if (!parsed.ok) return parsed;
  const plugins = memberValue(parsed.value, "plugins");
  if (plugins !== undefined && (!Array.isArray(plugins) || plugins.length !== 1))
    return invalid(path, "plugins must be a list with Plexus as its only plugin");
  const list = plugins === undefined ? undefined : parseNetworkList(text, path);
  if (list !== undefined && !list.ok) return invalid(path, list.fault.msg);
  const layer = readLayer(list?.value.plugins[0]?.document ?? parsed.value);
  if (!layer.ok) return invalid(path, layer.fault.msg);
  const own = layer.value.document;
  for (const [key, { byPlexusd }] of Object.entries<Key<unknown>>(allKeys))
    if (byPlexusd !== undefined && own.members.has(key)) return invalid(path, `${key}: ${byPlexusd}`);
  const name = list?.value.name ?? stringAt(own, "name") ?? "plexus";
  const cniVersion = list?.value.cniVersion || stringAt(own, "cniVersion") || defaultVersion;
  const type = stringAt(own, "type") ?? "plexus";
  // A flag of the template's list is also written into the plugin's object, where Plexus itself sees it.
  const ofList = listFlags.filter((flag) => list?.value[flag] === true);
  const edits = new Map<string, string | undefined>([
    ["name", undefined],
    ["cniVersion", undefined],
    ["type", JSON.stringify(type)],
    ...ofList.map((flag) => [flag, "true"] as const),
  ]);
  const plugin = parseDocument(editMembers(own, edits), { what: path, kind: "TEMPLATE_INVALID" });
  if (!plugin.ok) return plugin;
  const template = { name, cniVersion, type, plugin: plugin.value };
  const problem = problemOf(template);
  return problem === undefined ? ok(template) : invalid(path, problem);
}

/** The mistake in the completed template, as a call of the runtime would report it. */
function problemOf({ name, cniVersion, plugin }: ConfigurationTemplate): string | undefined {
  const { parsed } = plugin;
  const read = readHostConfiguration({ ...parsed, name, cniVersion, clusterNetwork: "/default" });
  if (!read.ok) return read.fault.msg;
  const written = writtenText(
    { name, cniVersion, plugin },
    { clusterNetwork: "/default", capabilities: [], kubeconfig: undefined, retirement: undefined },
  );
  const list = parseNetworkList(written, "the completed template");
  return list.ok ? undefined : list.fault.msg;
}

/**
 * The file's exact text. All bytes of the template's plugin stay but for the keys that are set. Without a `readinessindicatorfile` of the
 * template, calls wait for the default network's own file, so that a file that is just being replaced fails no pod.
 */
export function writtenText(
  { name, cniVersion, plugin }: Pick<ConfigurationTemplate, "name" | "cniVersion" | "plugin">,
  { clusterNetwork, capabilities, kubeconfig, retirement, steps = [], omitted = [] }: WrittenValues,
): string {
  const own = memberValue(plugin, "capabilities");
  const declared = Object.fromEntries(capabilities.map((capability) => [capability, true]));
  const all = { ...declared, ...(isJsonObject(own) ? own : {}) };
  const namesSource = plugin.members.has("kubeconfig") || plugin.members.has("manifests");
  const indicator = memberValue(plugin, "readinessindicatorfile");
  const edits = new Map<string, string | undefined>([
    ["capabilities", Object.keys(all).length === 0 ? undefined : JSON.stringify(all)],
    ["clusterNetwork", JSON.stringify(clusterNetwork)],
    ...(indicator === undefined ? [["readinessindicatorfile", JSON.stringify(clusterNetwork)] as const] : []),
    ...(kubeconfig === undefined || namesSource ? [] : [["kubeconfig", JSON.stringify(kubeconfig)] as const]),
    ...(retirement === undefined ? [] : [["retired", "true"] as const]),
    ...(omitted.length === 0 ? [] : [[omittedStepsKey, JSON.stringify(omitted)] as const]),
  ]);
  const removal = retirement === undefined ? {} : { [retirementKey]: retirement };
  const flags = Object.fromEntries(listFlags.filter((flag) => isSet(plugin, flag)).map((flag) => [flag, true]));
  const head = { ...versionsOf(cniVersion), name, ...flags, [markKey]: mark, ...removal };
  const members = Object.entries(head).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},\n`);
  const plugins = [editMembers(plugin, edits), ...steps.map(({ text }) => text)];
  return `{\n${members.join("")}  "plugins": [${plugins.join(", ")}]\n}\n`;
}

/** A text of `writtenText` with the digest of its content. `hash`: a short digest of a text. */
export function sealed(text: string, hash: (content: string) => string): string {
  const document = parseDocument(text, { what: "network configuration" });
  if (!document.ok) return text;
  // The mark stands in the head, where no other text can look like it.
  const line = `  "${markKey}": "${mark}",\n`;
  return text.replace(line, `${line}  "${digestKey}": "${hash(contentOf(document.value))}",\n`);
}

/** Whether the text is as a plexusd wrote it: the digest fits. */
export function isSealed(text: string, hash: (content: string) => string): boolean {
  const document = parseDocument(text, { what: "network configuration" });
  if (!document.ok) return false;
  return memberValue(document.value, digestKey) === hash(contentOf(document.value));
}

/** Whether two written texts have the same content, in whatever form: another program that rewrites the file changes bytes only. */
export function sameContent(one: string, other: string): boolean {
  const [first, second] = [one, other].map((text) => parseDocument(text, { what: "network configuration" }));
  return first?.ok === true && second?.ok === true && contentOf(first.value) === contentOf(second.value);
}

/** The document without its digest, as JSON with sorted keys. */
function contentOf({ parsed }: JsonObjectDocument): string {
  return JSON.stringify({ ...parsed, [digestKey]: undefined }, (_, value: unknown) =>
    isJsonObject(value) ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value,
  );
}

/**
 * The keys of the list's version. A runtime with CNI 1.0 ignores `cniVersions` and would accept a list of version 1.1.0, but no result of
 * it. A newer runtime takes the highest version that it knows.
 */
function versionsOf(cniVersion: string): object {
  const older = "1.0.0";
  return cniVersion === defaultVersion ? { cniVersion: older, cniVersions: [older, cniVersion] } : { cniVersion };
}

/** The file's text without the mark: a file that an administrator writes is not plexusd's. */
export function unmarked(text: string): string {
  const document = parseDocument(text, { what: "network configuration" });
  return document.ok ? editMembers(document.value, new Map([[markKey, undefined]])) : text;
}

/** The mark in a file that plexusd wrote; undefined if plexusd did not write the file. */
export function readMark(text: string): { readonly retirement: Retirement | undefined } | undefined {
  const document = parseDocument(text, { what: "network configuration" });
  if (!document.ok || memberValue(document.value, markKey) !== mark) return undefined;
  const plugins = memberValue(document.value, "plugins");
  const isRetired = Array.isArray(plugins) && plugins.some((plugin) => isJsonObject(plugin) && plugin["retired"] === true);
  if (!isRetired) return { retirement: undefined };
  const member = memberValue(document.value, retirementKey);
  const { daemonSet, held } = isJsonObject(member) ? member : {};
  return { retirement: { daemonSet: typeof daemonSet === "string" ? daemonSet : undefined, held: held === true } };
}

function isSet(plugin: JsonObjectDocument, flag: string): boolean {
  return String(memberValue(plugin, flag)).toLowerCase() === "true";
}

function stringAt(document: JsonObjectDocument, key: string): string | undefined {
  const value = memberValue(document, key);
  return typeof value === "string" ? value : undefined;
}

function invalid(path: string, why: string): Result<never> {
  return failed(fault("TEMPLATE_INVALID", `${path}: ${why}`));
}
