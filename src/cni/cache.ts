// libcni's cache of attachments as text, `cniCacheV1` (L-31..L-38). Plexus and Go's libcni read each other's entries, so a
// runtime that changes from one to the other finds its attachments.

import type { DefinitionName } from "../configuration/definition-policy.ts";
import { type Fault, fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { elementTexts, isJsonObject, memberText, memberTexts, memberValue, parseDocument } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import { type AttachmentId, checkAttachedInterfaceName, checkContainerId, checkNetworkName, utf8Length } from "./attachment.ts";
import type { CniArg } from "./environment.ts";

const KIND = "cniCacheV1";

/** NAME_MAX of the usual file systems. */
const MAX_NAME_BYTES = 255;

/** The identity of a cache entry. */
export interface CacheKey extends AttachmentId {
  readonly network: string;
}

/** A cache entry. */
export interface CachedAttachment extends CacheKey {
  /** Text of the network list. */
  readonly config: string;
  /** Network namespace path; empty if unknown. */
  readonly netns: string;
  /** Undefined if the entry has none: the runtime's own arguments count then (L-35). */
  readonly args: readonly CniArg[] | undefined;
  readonly capabilityArgs: ReadonlyMap<string, string>;
  /** JSON text of the final result. */
  readonly result: string | undefined;
  /** The definition that binds the network (Plexus' own member, which libcni ignores). */
  readonly definition?: DefinitionName | undefined;
}

function unreadable(what: string, why: string): { readonly ok: false; readonly fault: Fault } {
  return failed(fault("STORE_FAILED", `${what}: ${why}`));
}

/**
 * The entry's file name within `<cache directory>/results`. All three parts are checked, so the name cannot lead elsewhere.
 * Faults: those of L-01 to L-03; STORE_FAILED (5) if the name exceeds NAME_MAX.
 */
export function cacheFileName({ network, containerId, ifname }: CacheKey): Result<string> {
  const checks = [checkNetworkName(network), checkContainerId(containerId), checkAttachedInterfaceName(ifname)];
  const wrong = checks.find((check) => !check.ok);
  if (wrong !== undefined) return wrong;
  const name = `${network}-${containerId}-${ifname}`;
  if (utf8Length(name) <= MAX_NAME_BYTES) return ok(name);
  return unreadable("attachment cache", `the name of the entry has more than ${MAX_NAME_BYTES} bytes: ${quote(name, 80)}`);
}

/** The entry as libcni writes it: compact, in the order of libcni's struct, without empty members. */
export function encodeCache(entry: CachedAttachment): string {
  const { containerId, ifname, network, netns, args, capabilityArgs, result, definition } = entry;
  const config = new TextEncoder().encode(entry.config).toBase64();
  const members = [
    `"kind":"${KIND}"`,
    `"containerId":${JSON.stringify(containerId)}`,
    `"config":"${config}"`,
    `"ifName":${JSON.stringify(ifname)}`,
    `"networkName":${JSON.stringify(network)}`,
  ];
  if (netns !== "") members.push(`"netns":${JSON.stringify(netns)}`);
  if (args !== undefined && args.length > 0) members.push(`"cniArgs":${JSON.stringify(args)}`);
  if (capabilityArgs.size > 0) {
    const capabilities = [...capabilityArgs].map(([name, text]) => `${JSON.stringify(name)}:${text}`);
    members.push(`"capabilityArgs":{${capabilities.join(",")}}`);
  }
  if (result !== undefined) members.push(`"result":${result}`);
  if (definition !== undefined) members.push(`"plexusDefinition":${JSON.stringify(definition)}`);
  return `{${members.join(",")}}`;
}

function decodeConfig(base64: string): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.fromBase64(base64));
  } catch {
    return undefined;
  }
}

function decodeArgs(text: string | undefined): readonly CniArg[] | undefined | "wrong" {
  if (text === undefined || text === "null") return undefined;
  if (!text.startsWith("[")) return "wrong";
  const args: CniArg[] = [];
  for (const element of elementTexts(text)) {
    const pair: unknown = JSON.parse(element);
    if (!Array.isArray(pair) || pair.length !== 2) return "wrong";
    const [key, value]: unknown[] = pair;
    if (typeof key !== "string" || typeof value !== "string") return "wrong";
    args.push([key, value]);
  }
  return args;
}

/**
 * Reads an entry, which must be of libcni's kind and name its attachment. Fault: STORE_FAILED (5). A file of another kind may
 * hold a result from before this format: `cachedResultText` reads those too.
 */
export function decodeCache(text: string, what = "cached attachment"): Result<CachedAttachment> {
  const parsed = parseDocument(text, { what, kind: "STORE_FAILED" });
  if (!parsed.ok) return parsed;
  const document = parsed.value;
  const kind = memberValue(document, "kind");
  if (kind !== KIND) return unreadable(what, `has wrong kind: ${typeof kind === "string" ? quote(kind, 40) : "none"}`);
  const strings: Record<"containerId" | "ifName" | "networkName" | "netns" | "config", string> = {
    containerId: "",
    ifName: "",
    networkName: "",
    netns: "",
    config: "",
  };
  for (const key of ["containerId", "ifName", "networkName", "netns", "config"] as const) {
    const value = memberValue(document, key) ?? "";
    if (typeof value !== "string") return unreadable(what, `${key} must be a string`);
    strings[key] = value;
  }
  const config = decodeConfig(strings.config);
  if (config === undefined) return unreadable(what, "config is not the base64 of UTF-8 text");
  const args = decodeArgs(memberText(document, "cniArgs"));
  if (args === "wrong") return unreadable(what, "cniArgs must be a list of pairs of strings");
  const capabilities = memberValue(document, "capabilityArgs") ?? {};
  const result = memberValue(document, "result") ?? {};
  if (!isJsonObject(capabilities) || !isJsonObject(result)) return unreadable(what, "capabilityArgs and result must be objects");
  const { containerId, ifName: ifname, networkName: network, netns } = strings;
  if (containerId === "" || ifname === "" || network === "") {
    return unreadable(what, "containerId, ifName and networkName must not be empty");
  }
  const capabilityText = memberText(document, "capabilityArgs");
  const resultText = memberText(document, "result");
  return ok({
    containerId,
    ifname,
    network,
    netns,
    config,
    args,
    capabilityArgs: capabilityText === undefined || capabilityText === "null" ? new Map() : memberTexts(capabilityText),
    result: resultText === "null" ? undefined : resultText,
    ...definitionOf(memberValue(document, "plexusDefinition")),
  });
}

function definitionOf(value: unknown): Pick<CachedAttachment, "definition"> {
  if (!isJsonObject(value)) return {};
  const { namespace, name } = value;
  return typeof namespace === "string" && typeof name === "string" ? { definition: { namespace, name } } : {};
}

/**
 * Reads the entry of one attachment. File names are ambiguous ("a-b" + "c" equals "a" + "b-c"), so the entry itself must name the
 * same attachment (L-37). Fault: STORE_FAILED (5).
 */
export function decodeCacheOf(key: CacheKey, text: string): Result<CachedAttachment> {
  const what = `cached attachment of network ${quote(key.network, 80)}`;
  const decoded = decodeCache(text, what);
  if (!decoded.ok) return decoded;
  const { containerId, ifname, network } = decoded.value;
  if (isOf(key, decoded.value)) return decoded;
  return unreadable(
    what,
    `belongs to another attachment: network ${quote(network)}, container ${quote(containerId)}, ${quote(ifname)}`,
  );
}

function isOf(key: CacheKey, { containerId, ifname, network }: CacheKey): boolean {
  return containerId === key.containerId && ifname === key.ifname && network === key.network;
}

/**
 * The text of an attachment's final result, from its cache file. A file that is not an entry is itself the result: it is older
 * than `cniCacheV1` (L-34). Undefined if the entry belongs to another attachment or has no result.
 */
export function cachedResultText(key: CacheKey, text: string): string | undefined {
  const decoded = decodeCache(text);
  if (!decoded.ok) return text;
  return isOf(key, decoded.value) ? decoded.value.result : undefined;
}

/** Tells by the name alone whether a file may be an entry of the container (L-38). */
export function mayBeEntryOf(containerId: string, fileName: string): boolean {
  const part = `-${containerId}-`;
  const at = fileName.indexOf(part, 1);
  return at !== -1 && at + part.length < fileName.length;
}

/**
 * The attachments among the files of the cache directory, ordered by file name; with `containerId`, those of this container only.
 * Files that are not entries are ignored (L-38).
 */
export function cachedAttachments(
  files: readonly { readonly name: string; readonly text: string }[],
  containerId?: string,
): readonly CachedAttachment[] {
  const candidates = containerId === undefined ? files : files.filter(({ name }) => mayBeEntryOf(containerId, name));
  const found: CachedAttachment[] = [];
  for (const { text } of candidates.toSorted((left, right) => (left.name < right.name ? -1 : Number(left.name > right.name)))) {
    const decoded = decodeCache(text);
    if (decoded.ok && (containerId === undefined || decoded.value.containerId === containerId)) found.push(decoded.value);
  }
  return found;
}
