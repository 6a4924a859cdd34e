// The cluster's default network: the first element of `delegates`, or the network that `clusterNetwork` names; and its readiness. The network's node
// agent (for example calico-node) creates a file when the network is ready (MC-12, N1-58 to N1-61).

import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { inlineNetwork } from "../../../src/cni/inline-network.ts";
import { type NetworkList, parseNetworkList, selfContainedText, withoutTypes } from "../../../src/cni/network-list.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import type { FaultKind } from "../../../src/fault/catalogue.ts";
import { fault } from "../../../src/fault/fault.ts";
import { type Result, failed, ok } from "../../../src/fault/result.ts";
import { type JsonObjectDocument, elementTexts, memberText, memberValue, parseDocument } from "../../../src/json/document.ts";
import { configurationFile } from "../../store/files/configuration-directory.ts";
import { writeShared } from "../../store/files/shared-file.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";
import type { Call, ConfigurationContext, PlanContext } from "../call.ts";
import { type NamedNetwork, namedNetwork, networkOnDisk } from "./named-network.ts";

/**
 * The default network for a new pod. A network from the Kubernetes API is stored, so that DEL and GC need no API. Faults:
 * CONFIG_NOT_JSON, CONFIG_INVALID, NETWORK_NOT_FOUND, NETWORK_UNKNOWN, CLUSTER_UNREADABLE.
 */
export async function resolveDefaultNetwork(call: PlanContext): Promise<Result<NamedNetwork>> {
  const inline = inlineDefault(call);
  if (inline !== undefined) return inline;
  const { clusterNetwork = "" } = call.configuration;
  const network = await namedNetwork(call, "clusterNetwork", clusterNetwork);
  if (!network.ok) return network;
  if (network.value.defined) store(call, clusterNetwork, network.value.list);
  return ok({ ...network.value, list: withoutTypes(network.value.list, call.configuration.omitDefaultSteps) });
}

/**
 * The default network without the Kubernetes API, for DEL and GC. Faults: CONFIG_NOT_JSON, CONFIG_INVALID,
 * NETWORK_NOT_FOUND, NETWORK_UNKNOWN.
 */
export function readDefaultNetwork(context: ConfigurationContext): Result<NetworkList> {
  const inline = inlineDefault(context);
  if (inline !== undefined) return inline.ok ? ok(inline.value.list) : inline;
  const { clusterNetwork = "" } = context.configuration;
  const stored = readStored(context.configuration, clusterNetwork);
  const network = stored === undefined ? networkOnDisk(context, "clusterNetwork", clusterNetwork) : ok({ list: stored });
  return network.ok ? ok(withoutTypes(network.value.list, context.configuration.omitDefaultSteps)) : network;
}

/** The kinds of fault of a missing default network, in contrast to a faulty one. */
export const missingDefaultKinds: ReadonlySet<FaultKind> = new Set(["NETWORK_UNKNOWN", "NETWORK_NOT_FOUND"]);

/**
 * As `readDefaultNetwork`, but asks the API if the node does not know the network yet. Before its first ADD a node knows no definition, and its runtime
 * starts no pod before STATUS succeeds. Faults: those of `resolveDefaultNetwork`.
 */
export async function findDefaultNetwork(call: PlanContext): Promise<Result<NetworkList>> {
  const known = readDefaultNetwork(call);
  if (known.ok || !missingDefaultKinds.has(known.fault.kind)) return known;
  const resolved = await resolveDefaultNetwork(call);
  return resolved.ok ? ok(resolved.value.list) : resolved;
}

/** The elements of `delegates` after the first: networks that every pod gets besides the default network. */
export function readOtherDelegates({ document, configuration }: ConfigurationContext): Result<readonly NetworkList[]> {
  const lists: NetworkList[] = [];
  for (const [index, text] of inlineDelegates(document, configuration).slice(1).entries()) {
    const list = inlineNetwork(text, `delegates[${index + 1}]`, configuration);
    if (!list.ok) return list;
    lists.push(list.value);
  }
  return ok(lists);
}

/** The inline default network of each configuration, which many calls share. */
const inlineDefaults = new WeakMap<JsonObjectDocument, Result<NamedNetwork>>();

/** The first element of `delegates`; undefined if `clusterNetwork` names the default network. */
function inlineDefault(context: ConfigurationContext): Result<NamedNetwork> | undefined {
  const { document, configuration } = context;
  if (configuration.clusterNetwork !== undefined) return undefined;
  const known = inlineDefaults.get(document);
  if (known !== undefined) return known;
  const read = readInlineDefault(context);
  inlineDefaults.set(document, read);
  return read;
}

function readInlineDefault({ document, configuration }: ConfigurationContext): Result<NamedNetwork> {
  const [first] = inlineDelegates(document, configuration);
  if (first === undefined)
    return failed(
      fault("NETWORK_NOT_FOUND", "the configuration has neither delegates nor clusterNetwork, so there is no default network"),
    );
  const list = inlineNetwork(first, "delegates[0]", configuration);
  return list.ok ? ok({ list: list.value, statusName: list.value.name, defined: false }) : list;
}

/** The elements of `delegates` of each configuration, which many calls share. */
const delegateTexts = new WeakMap<JsonObjectDocument, readonly string[]>();

/** The elements of `delegates`; none if the configuration has `clusterNetwork`, because Multus ignores `delegates` then. */
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

function storedPath({ cniDir }: HostConfiguration): string {
  return join(cniDir, "default-network.json");
}

/** Stores the default network unless the file has it already. A failed write is a warning only: the next ADD tries again. */
function store({ configuration, warn }: ConfigurationContext, name: string, list: NetworkList): void {
  const path = storedPath(configuration);
  const text = `${JSON.stringify({ clusterNetwork: name, conflist: selfContainedText(list) })}\n`;
  if (textAt(path) === text) return;
  const written = writeShared(path, text);
  if (!written.ok) warn(`the default network is not stored for later calls without the API: ${written.fault.msg}`);
}

/** The stored network that `clusterNetwork` named `name`; undefined if none is stored, or the file is not readable. */
function readStored(configuration: HostConfiguration, name: string): NetworkList | undefined {
  const text = textAt(storedPath(configuration));
  const document = text === undefined ? undefined : parseDocument(text, { what: "stored default network" });
  if (document?.ok !== true || memberValue(document.value, "clusterNetwork") !== name) return undefined;
  const conflist = memberValue(document.value, "conflist");
  const list = typeof conflist === "string" ? parseNetworkList(conflist, "stored default network") : undefined;
  return list?.ok === true ? list.value : undefined;
}

function textAt(path: string): string | undefined {
  try {
    return readRegularFile(path, { ...configurationFile, foreign: false });
  } catch {
    return undefined;
  }
}

/** Interval in ms of the reads of the file. */
const pollMs = 50;

/**
 * Checks once whether the default network is ready. STATUS does not wait, because a runtime takes a slow answer for a broken node
 * (RT-04). Fault: NETWORK_NOT_READY.
 */
export function requireReady({ configuration }: ConfigurationContext): Result<void> {
  const { readinessindicatorfile: file } = configuration;
  if (file === undefined || existsSync(file)) return ok(undefined);
  return failed(fault("NETWORK_NOT_READY", `the default network isn't ready: its readiness file ${file} does not exist`));
}

/**
 * Waits until the default network is ready, within the configured bound of ADD or DEL (D-07). After that an ADD fails with
 * NETWORK_NOT_READY, and a DEL warns and goes on, because the journal has all that it needs.
 */
export async function waitUntilReady({ request, configuration, deadline, clock, warn }: Call): Promise<Result<void>> {
  const { readinessindicatorfile: file, readinessTimeoutMs, readinessDelTimeoutMs } = configuration;
  if (file === undefined || (request.verb !== "ADD" && request.verb !== "DEL")) return ok(undefined);
  const timeoutMs = request.verb === "ADD" ? readinessTimeoutMs : readinessDelTimeoutMs;
  const maxWaitMs = Math.min(timeoutMs, Math.floor(deadline.stepMs));
  const started = clock.now();
  while (!existsSync(file)) {
    if (clock.now() - started < maxWaitMs) {
      await setTimeout(pollMs);
      continue;
    }
    const why = `the default network isn't ready: its readiness file ${file} did not appear within ${maxWaitMs} ms`;
    if (request.verb === "ADD") return failed(fault("NETWORK_NOT_READY", why));
    warn(`${why}; this DEL goes on without waiting further`);
    break;
  }
  return ok(undefined);
}
