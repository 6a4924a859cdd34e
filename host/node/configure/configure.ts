// Makes Plexus' complete configuration for a node from the network that the node has.

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import {
  configurationFiles,
  type DirectoryNetwork,
  findDirectoryNetwork,
  runsPlexus,
} from "../../../src/configuration/directory-network.ts";
import {
  type ConfigurationTemplate,
  readTemplate,
  unmarked,
  writtenText,
} from "../../../src/configuration/written-configuration.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { readConfigurationDirectory } from "../../store/files/configuration-directory.ts";
import { storeFault } from "../../store/files/durable-file.ts";
import { shimLinks } from "../cni-configuration/shim-links.ts";
import { explain } from "../explain/explain-networks.ts";
import { networksInFile } from "../explain/networks.ts";
import { mergedGrants } from "./merged-grants.ts";
import { proposedGrants } from "./proposed-grants.ts";

/** The settings of a configuration. */
export interface WantedConfiguration {
  /** The runtime's directory of network configurations. */
  readonly directory: string;
  /** The file name of the node's network; undefined: the first that is not Plexus. */
  readonly network: string | undefined;
  /** Further keys of the configuration; not with a template. */
  readonly members: Readonly<Record<string, string | boolean>>;
  /** Whether Plexus' configuration has the network's name. */
  readonly takesName: boolean;
  /** The name of Plexus' file, in the same directory. */
  readonly fileName: string;
  readonly kubeconfig: string;
  /** A file with Plexus' configuration without a default network; undefined: the least grants, and no rule for definitions. */
  readonly template: string | undefined;
  /** Directories of plugins, separated by colons. */
  readonly cniPath: string;
  /** Whether every component on CNI_PATH gets a proposal of grants, with empty bounds. */
  readonly proposesGrants?: boolean;
}

/** A configuration, not yet written. */
export interface ComposedConfiguration {
  /** The file's content. */
  readonly text: string;
  /** The path that the configuration is for. */
  readonly path: string;
  /** Whether the path has a file of Plexus already. */
  readonly replaces: boolean;
  readonly warnings: readonly string[];
}

/**
 * Composes the configuration: CNI 1.1.0, so that a runtime asks for STATUS; the node's network as `clusterNetwork` with its capabilities; the
 * kubeconfig; and the grants that the network's components need. Faults: NO_DEFAULT_NETWORK, TEMPLATE_INVALID, CONFIG_INVALID, STORE_FAILED.
 */
export async function composeConfiguration(wanted: WantedConfiguration): Promise<Result<ComposedConfiguration>> {
  const directory = readConfigurationDirectory(wanted.directory);
  if (!directory.ok) return directory;
  const plexusTypes = wanted.cniPath.split(":").flatMap(shimLinks);
  const network = findDirectoryNetwork(directory.value, { pinned: wanted.network, plexusTypes });
  if (!network.ok) return network;
  const path = `${directory.value.path}/${wanted.fileName}`;
  for (const file of configurationFiles(directory.value.files)) {
    const isPlexus = "text" in file && runsPlexus(file.text, plexusTypes);
    if (file.path === path && !isPlexus)
      return failed(fault("CONFIG_INVALID", `${path} exists and is not Plexus' configuration: give another --name`));
    if (basename(file.path) < wanted.fileName && !isPlexus)
      return failed(
        fault("CONFIG_INVALID", `${file.path} sorts before ${wanted.fileName}, so the runtime would use it: give another --name`),
      );
  }
  const warnings: string[] = [];
  const template = await templateOf(wanted, network.value, warnings);
  if (!template.ok) return template;
  const { path: clusterNetwork, capabilities } = network.value;
  const values = { clusterNetwork, capabilities, kubeconfig: wanted.kubeconfig, retirement: undefined };
  const text = unmarked(writtenText(template.value, values));
  const replaces = directory.value.files.some((file) => file.path === path);
  return ok({ text, path, replaces, warnings });
}

async function templateOf(
  wanted: WantedConfiguration,
  network: DirectoryNetwork,
  warnings: string[],
): Promise<Result<ConfigurationTemplate>> {
  if (wanted.template !== undefined) {
    try {
      return readTemplate(readFileSync(wanted.template, "utf8"), wanted.template);
    } catch (error) {
      return failed(storeFault("reading", wanted.template, error));
    }
  }
  const warn = (text: string): void => void warnings.push(text);
  const networks = await networksInFile(network.path, undefined, wanted.cniPath, warn);
  if (!networks.ok) return networks;
  const explained = await explain(networks.value, { settings: undefined, cniPath: wanted.cniPath, warnings: [] });
  const steps = explained.networks.flatMap((each) => each.steps);
  for (const { type, kind } of steps)
    if (kind === "missing")
      warn(`${network.path}: plugin ${type} is in none of ${wanted.cniPath}, so no pod can be attached yet`);
  const proposal = wanted.proposesGrants === true ? { wasm: { grants: await proposedGrants(wanted.cniPath) } } : null;
  const grants = mergedGrants([proposal, ...steps.map(({ toGrant }) => toGrant)]);
  const template = {
    ...(wanted.takesName ? { name: network.name } : {}),
    type: "plexus",
    ...wanted.members,
    ...(Object.keys(grants).length === 0 ? {} : { wasm: { grants } }),
    definitions: {},
  };
  return readTemplate(JSON.stringify(template, undefined, 2), "the built-in template");
}
