// Lints configurations and definitions: what a call would refuse, by the code of a call, and what collides.

import { filesWith } from "../../../src/cni/config-directory.ts";
import { finding, type LintFinding, type LintSource, sortedFindings } from "../../../src/lint/finding.ts";
import { instanceAddresses, keepingPoolIn, machineIn } from "../../../src/lint/instance-addresses.ts";
import { lintNetworks } from "../../../src/lint/network-rules.ts";
import { type ManifestObject, readObjects } from "../../cluster/manifests/manifest-objects.ts";
import { configurationFile, readConfigurationDirectory } from "../../store/files/configuration-directory.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";
import { statsOf } from "../../store/files/stats-of.ts";
import { explain } from "../explain/explain-networks.ts";
import { isMistake, readHostSettings, settingsIn } from "../explain/host-settings.ts";
import { definitionSources } from "../explain/manifest-places.ts";
import { isNetwork, networksInFile, originOf } from "../explain/networks.ts";
import { lintDefinition, type LintTarget, lintNetworkOf, type LintTerms, refused } from "./lint-definition.ts";
import { stepFindings } from "./step-findings.ts";

/** The subjects of a lint, and the configuration for them. */
export interface LintSubjects {
  readonly files: readonly string[];
  /** Whether to lint all configurations of the directory `config`. */
  readonly node: boolean;
  /** Definitions of a cluster. */
  readonly objects: readonly ManifestObject[];
  /** Plexus' own configuration: its file, or the directory with that file. */
  readonly config: string;
  readonly cniPath: string;
}

/** Kinds besides definitions that rules look at. */
const furtherKinds: ReadonlySet<string> = new Set(["VirtualMachine", "VirtualMachineInstance", "AddressPool"]);

/** The document of `plexusctl lint -o json`. */
export interface LintReport {
  readonly apiVersion: "plexus/v1";
  readonly kind: "LintReport";
  /** Number of networks that were read. */
  readonly networks: number;
  readonly findings: readonly LintFinding[];
}

/** Lints the targets. Never rejects: an unreadable file is a finding. */
export async function lint({ files, node, objects, config, cniPath }: LintSubjects): Promise<LintReport> {
  const settings = readHostSettings(config, cniPath);
  const terms: LintTerms = { settings: settings.ok ? settings.value : undefined, cniPath };
  const targets: LintTarget[] = [];
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
  const known = networks.map(lintNetworkOf);
  const others = targets.flatMap((each) => each.others ?? []);
  const machines = others.flatMap((each) => machineIn(each) ?? []);
  const keepingPools = new Set(others.flatMap((each) => keepingPoolIn(each) ?? []));
  const findings = [
    ...targets.flatMap((each) => each.findings),
    ...steps,
    ...lintNetworks(known),
    ...instanceAddresses(known, machines, keepingPools),
  ];
  return { apiVersion: "plexus/v1", kind: "LintReport", networks: networks.length, findings: sortedFindings(findings) };
}

async function lintFile(file: string, { settings, cniPath }: LintTerms): Promise<LintTarget> {
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
    const networks = await networksInFile(file, settings, cniPath, () => undefined);
    return networks.ok ? { networks: networks.value, findings: [] } : refused(source, "", networks.fault);
  }
  return lintManifest(file, text, { settings, cniPath });
}

async function lintManifest(file: string, text: string, terms: LintTerms): Promise<LintTarget> {
  const source = originOf(file, text);
  const { objects, others, problems } = await readObjects(file, text, furtherKinds);
  const unreadable = problems.map((message) =>
    finding("unreadable-configuration", { source: yamlSource(file, message), object: "", offset: 0, message }),
  );
  const definitions = objects.filter(({ kind }) => kind === "NetworkAttachmentDefinition");
  if (definitions.length === 0 && others.length === 0 && unreadable.length === 0) {
    const message = "has neither a network configuration nor a NetworkAttachmentDefinition";
    return { networks: [], findings: [finding("unreadable-file", { source, object: "", offset: 0, message })] };
  }
  const places = await definitionSources(file, text);
  const targets = definitions.map((each) => lintDefinition(each, places.get(`${each.namespace}/${each.name}`), terms));
  return {
    networks: targets.flatMap(({ networks }) => networks),
    findings: [...unreadable, ...targets.flatMap(({ findings }) => findings)],
    others,
  };
}

/** The YAML library's messages have line and column. */
function yamlSource(file: string, problem: string): LintSource {
  const [, line = "1", column = "1"] = /at line (\d+), column (\d+)/.exec(problem) ?? [];
  return { file, text: "", place: () => ({ line: Number(line), column: Number(column) }) };
}

/** All files of a directory of configurations that a runtime reads; the file itself if it is no directory. */
function configurationsIn(path: string): readonly string[] {
  if (statsOf(path)?.isDirectory() !== true) return [path];
  const directory = readConfigurationDirectory(path);
  if (!directory.ok) return [path];
  return filesWith([".conf", ".conflist", ".json"], directory.value.files).map((file) => file.path);
}
