// Lints configurations and definitions: what a call would refuse, by the code of a call, and what collides.

import { statSync } from "node:fs";
import { filesWith } from "../../../src/cni/config-directory.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import { parseDocument } from "../../../src/json/document.ts";
import { ruleOfFault } from "../../../src/lint/fault-rule.ts";
import { finding, type LintFinding, type LintNetwork, type LintSource, sortedFindings } from "../../../src/lint/finding.ts";
import { locateNetwork } from "../../../src/lint/locate-network.ts";
import { lintNetworks } from "../../../src/lint/network-rules.ts";
import { mistakesIn, offsetOfMessage } from "../../../src/lint/place-of-message.ts";
import type { LintRuleId } from "../../../src/lint/rules.ts";
import { readNetworkAttachmentDefinition } from "../../../src/npwg/network-attachment-definition.ts";
import { type ManifestObject, readObjects } from "../../cluster/manifests/manifest-objects.ts";
import { configurationFile, readConfigurationDirectory } from "../../store/files/configuration-directory.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";
import { explain } from "../explain/explain-networks.ts";
import type { HostSettings } from "../explain/host-settings.ts";
import { isMistake, readHostSettings, settingsIn } from "../explain/host-settings.ts";
import { definitionSources } from "../explain/manifest-places.ts";
import { definedNetwork, isNetwork, type NamedList, networksInFile, originOf } from "../explain/networks.ts";
import { stepFindings } from "./step-findings.ts";

/** The subjects of a lint, and the configuration for them. */
export interface LintInit {
  readonly files: readonly string[];
  /** Whether to lint all configurations of the directory `config`. */
  readonly node: boolean;
  /** Definitions of a cluster. */
  readonly objects: readonly ManifestObject[];
  /** Plexus' own configuration: its file, or the directory with that file. */
  readonly config: string;
  readonly cniPath: string;
}

/** The document of `plexusctl lint -o json`. */
export interface LintReport {
  readonly apiVersion: "plexus/v1";
  readonly kind: "LintReport";
  /** Number of networks that were read. */
  readonly networks: number;
  readonly findings: readonly LintFinding[];
}

/** Networks and findings of one target. */
interface Target {
  readonly networks: readonly NamedList[];
  readonly findings: readonly LintFinding[];
}

/** Lints the targets. Never rejects: an unreadable file is a finding. */
export async function lint({ files, node, objects, config, cniPath }: LintInit): Promise<LintReport> {
  const settings = readHostSettings(config, cniPath);
  const terms: Terms = { settings: settings.ok ? settings.value : undefined, cniPath };
  const targets: Target[] = [];
  const names = new Set([...files, ...(node ? configurationsIn(config) : [])]);
  for (const file of names) targets.push(await lintFile(file, terms));
  // A mistake in Plexus' configuration would change the other findings silently, if its file is no target.
  const isReported = targets.some(({ findings: found }) => found.some(({ rule }) => rule === "plexus-configuration"));
  if (!settings.ok && isMistake(settings.fault) && !isReported)
    targets.push(refused(originOf(config, ""), "", settings.fault, "plexus-configuration"));
  for (const object of objects) targets.push(lintDefinition(object, undefined, terms));
  const networks = targets.flatMap((each) => each.networks);
  const explained = await explain(networks, { settings: terms.settings, cniPath, warnings: [] });
  const steps = explained.networks.flatMap((network, index) => {
    const list = networks[index];
    return list === undefined ? [] : stepFindings(lintNetworkOf(list), network);
  });
  const findings = [...targets.flatMap((each) => each.findings), ...steps, ...lintNetworks(networks.map(lintNetworkOf))];
  return { apiVersion: "plexus/v1", kind: "LintReport", networks: networks.length, findings: sortedFindings(findings) };
}

interface Terms {
  readonly settings: HostSettings | undefined;
  readonly cniPath: string;
}

async function lintFile(file: string, { settings, cniPath }: Terms): Promise<Target> {
  let text: string;
  try {
    text = readRegularFile(file, configurationFile);
  } catch (error) {
    const message = `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    const source = originOf(file, "");
    return { networks: [], findings: [finding("unreadable-file", { source, object: "", offset: 0, message })] };
  }
  const source = originOf(file, text);
  if (/\.(?:conf|conflist)$/.test(file) || isNetwork(file, text)) {
    const own = settingsIn(file, cniPath);
    if (!own.ok && isMistake(own.fault)) return refused(source, "", own.fault, "plexus-configuration");
    const networks = await networksInFile(file, { settings, cniPath, warn: () => undefined });
    return networks.ok ? { networks: networks.value, findings: [] } : refused(source, "", networks.fault);
  }
  return lintManifest(file, text, { settings, cniPath });
}

async function lintManifest(file: string, text: string, terms: Terms): Promise<Target> {
  const source = originOf(file, text);
  const { objects, problems } = await readObjects(file, text);
  const unreadable = problems.map((message) =>
    finding("unreadable-configuration", { source: yamlSource(file, message), object: "", offset: 0, message }),
  );
  const definitions = objects.filter(({ kind }) => kind === "NetworkAttachmentDefinition");
  if (definitions.length === 0 && unreadable.length === 0) {
    const message = "has neither a network configuration nor a NetworkAttachmentDefinition";
    return { networks: [], findings: [finding("unreadable-file", { source, object: "", offset: 0, message })] };
  }
  const places = await definitionSources(file, text);
  const targets = definitions.map((each) => lintDefinition(each, places.get(`${each.namespace}/${each.name}`), terms));
  return {
    networks: targets.flatMap(({ networks }) => networks),
    findings: [...unreadable, ...targets.flatMap(({ findings }) => findings)],
  };
}

/** `origin`: where the configuration stands; undefined: the object comes from an API, so places are those in its configuration. */
function lintDefinition({ object, namespace, name, path }: ManifestObject, origin: LintSource | undefined, terms: Terms): Target {
  const definition = readNetworkAttachmentDefinition(object);
  const config = definition.ok ? (definition.value.config ?? "") : "";
  const source = origin ?? originOf(path, config);
  const fullName = `${namespace}/${name}`;
  if (!definition.ok) return refused(source, fullName, definition.fault);
  const network = definedNetwork(definition.value, { ...terms, warn: () => undefined });
  if (!network.ok) return refused(source, fullName, network.fault);
  return { networks: [{ ...network.value, origin: source }], findings: [] };
}

/** `rule`: absent: that of the fault's kind. */
function refused(source: LintSource, object: string, { kind, msg }: Fault, rule: LintRuleId = ruleOfFault(kind)): Target {
  const { text, file } = source;
  const isJson = text === "" || parseDocument(text, { what: file }).ok;
  const found = isJson || rule === "unreadable-file" ? rule : "unreadable-configuration";
  const findings = mistakesIn(msg.startsWith(`${file}: `) ? msg.slice(file.length + 2) : msg).map((message) =>
    finding(found, { source, object, offset: offsetOfMessage(text, message), message }),
  );
  return { networks: [], findings };
}

/** The YAML library's messages have line and column. */
function yamlSource(file: string, problem: string): LintSource {
  const [, line = "1", column = "1"] = /at line (\d+), column (\d+)/.exec(problem) ?? [];
  return { file, text: "", place: () => ({ line: Number(line), column: Number(column) }) };
}

/** All files of a directory of configurations that a runtime reads; the file itself if it is no directory. */
function configurationsIn(path: string): readonly string[] {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [path];
  const directory = readConfigurationDirectory(path);
  if (!directory.ok) return [path];
  return filesWith([".conf", ".conflist", ".json"], directory.value.files).map((file) => file.path);
}

/** The network for the rules that compare networks. */
function lintNetworkOf({ source, origin, list, namespace }: NamedList): LintNetwork {
  const known = origin ?? originOf(source, "");
  const object = namespace === undefined ? "" : source;
  return { source: known, object, list, paths: known.text === "" ? [] : locateNetwork(known.text, list) };
}
