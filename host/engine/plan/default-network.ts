// The cluster's default network: the first inline delegate, or what `clusterNetwork` names.

import { join } from "node:path";
import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";
import { type NetworkList, parseNetworkList, selfContainedText } from "../../src/cni/network-list.ts";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { elementTexts, type JsonObjectDocument, memberText, memberValue, parseDocument } from "../../src/json/document.ts";
import { configurationFile } from "../files/configuration-directory.ts";
import { writeDurably } from "../files/durable-file.ts";
import { readRegularFile } from "../files/regular-file.ts";
import type { CallContext } from "./call-context.ts";
import { inlineNetwork } from "../../src/cni/inline-network.ts";
import { type NamedNetwork, namedNetwork, networkOnDisk } from "./named-network.ts";

type OfflineContext = Pick<CallContext, "document" | "configuration" | "warn">;

/**
 * The default network for a new pod. One that the API has is remembered, so that later calls need no API. Faults:
 * CONFIG_NOT_JSON, CONFIG_INVALID, NETWORK_NOT_FOUND, NETWORK_UNKNOWN, CLUSTER_UNREADABLE.
 */
export async function resolveDefaultNetwork(
  context: OfflineContext & Pick<CallContext, "cluster">,
): Promise<Result<NamedNetwork>> {
  const inline = inlineDefault(context);
  if (inline !== undefined) return inline;
  const { clusterNetwork = "" } = context.configuration;
  const network = await namedNetwork(context, "clusterNetwork", clusterNetwork);
  if (network.ok && network.value.defined) remember(context, clusterNetwork, network.value.list);
  return network;
}

/** The default network as far as it is known without the API: for DEL, STATUS and GC. Faults as above, but for the last. */
export function readDefaultNetwork(context: OfflineContext): Result<NetworkList> {
  const inline = inlineDefault(context);
  if (inline !== undefined) return inline.ok ? ok(inline.value.list) : inline;
  const { clusterNetwork = "" } = context.configuration;
  const known = remembered(context.configuration, clusterNetwork);
  if (known !== undefined) return ok(known);
  const network = networkOnDisk(context, "clusterNetwork", clusterNetwork);
  return network.ok ? ok(network.value.list) : network;
}

/** The further inline delegates: networks that every pod gets besides the default one. */
export function readFurtherDelegates({ document, configuration }: OfflineContext): Result<readonly NetworkList[]> {
  const lists: NetworkList[] = [];
  for (const [index, text] of inlineDelegates(document, configuration).slice(1).entries()) {
    const list = inlineNetwork(text, `delegates[${index + 1}]`, configuration);
    if (!list.ok) return list;
    lists.push(list.value);
  }
  return ok(lists);
}

/** That of a configuration which many calls share is read once. */
const inlineDefaults = new WeakMap<JsonObjectDocument, Result<NamedNetwork>>();

/** Undefined where `clusterNetwork` names it. */
function inlineDefault({ document, configuration }: OfflineContext): Result<NamedNetwork> | undefined {
  if (configuration.clusterNetwork !== undefined) return undefined;
  const known = inlineDefaults.get(document);
  if (known !== undefined) return known;
  const read = readInlineDefault({ document, configuration });
  inlineDefaults.set(document, read);
  return read;
}

function readInlineDefault({ document, configuration }: Omit<OfflineContext, "warn">): Result<NamedNetwork> {
  const [first] = inlineDelegates(document, configuration);
  if (first === undefined) return failed(fault("NETWORK_NOT_FOUND", "the configuration names no default network"));
  const list = inlineNetwork(first, "delegates[0]", configuration);
  return list.ok ? ok({ list: list.value, statusName: list.value.name, defined: false }) : list;
}

/** The elements of `delegates`: scanned once for all calls that bring the same configuration. */
const delegateTexts = new WeakMap<JsonObjectDocument, readonly string[]>();

/** None where `clusterNetwork` is there: Multus ignores them then. */
function inlineDelegates(document: JsonObjectDocument, { clusterNetwork }: HostConfiguration): readonly string[] {
  if (clusterNetwork !== undefined) return [];
  let texts = delegateTexts.get(document);
  if (texts === undefined) {
    const text = memberText(document, "delegates");
    texts = text?.startsWith("[") === true ? elementTexts(text) : [];
    delegateTexts.set(document, texts);
  }
  return texts;
}

function rememberedPath({ cniDir }: HostConfiguration): string {
  return join(cniDir, "default-network.json");
}

/** Written where it isn't so already; a call that can't write it goes on: the next one that can does. */
function remember({ configuration, warn }: OfflineContext, named: string, list: NetworkList): void {
  const path = rememberedPath(configuration);
  const text = `${JSON.stringify({ clusterNetwork: named, conflist: selfContainedText(list) })}\n`;
  if (textAt(path) === text) return;
  const written = writeDurably(path, text);
  if (!written.ok) warn(`the default network can't be remembered for later calls: ${written.fault.msg}`);
}

function remembered(configuration: HostConfiguration, named: string): NetworkList | undefined {
  const text = textAt(rememberedPath(configuration));
  const document = text === undefined ? undefined : parseDocument(text, { what: "remembered default network" });
  if (document?.ok !== true || memberValue(document.value, "clusterNetwork") !== named) return undefined;
  const conflist = memberValue(document.value, "conflist");
  const list = typeof conflist === "string" ? parseNetworkList(conflist, "remembered default network") : undefined;
  return list?.ok === true ? list.value : undefined;
}

function textAt(path: string): string | undefined {
  try {
    return readRegularFile(path, { ...configurationFile, foreign: false });
  } catch {
    return undefined;
  }
}
