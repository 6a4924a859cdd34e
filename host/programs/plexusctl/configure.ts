// plexusctl configure: Plexus' configuration for a node, from the network that the node has.

import { existsSync } from "node:fs";
import { basename, dirname, isAbsolute } from "node:path";
import { type CommandLineMistake, valueOf } from "../../../src/command-line/read-command-line.ts";
import { readMultusFlags } from "../../../src/configuration/multus-flags.ts";
import { type ComposedConfiguration, composeConfiguration, type WantedConfiguration } from "../../node/configure/configure.ts";
import { writeOwnFile } from "../../node/cni-configuration/own-file.ts";
import { type CommandResult, failure, type Invocation } from "../../node/command-line/command.ts";
import { namedCniPath, onlyWith } from "../../node/command-line/common-options.ts";
import { printable } from "../../node/command-line/printed.ts";

/** Runs `plexusctl configure`. */
export async function configureCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const options = readConfigureOptions(line);
  if ("wrong" in options) return options;
  const found = await composeConfiguration(options.wanted);
  if (!found.ok) return failure(found.fault.msg);
  const composed = { ...found, value: { ...found.value, warnings: [...options.notes, ...found.value.warnings] } };
  const lacksKubeconfig =
    composed.value.text.includes(JSON.stringify(options.wanted.kubeconfig)) && !existsSync(options.wanted.kubeconfig);
  const missing = lacksKubeconfig ? [`${options.wanted.kubeconfig} does not exist yet: every call would fail`] : [];
  if (options.write) return write(composed.value, missing);
  const notes = [...composed.value.warnings, ...missing].join("; ");
  return { stdout: printable(composed.value.text), ...(notes === "" ? {} : { stderr: notes }), status: 0 };
}

async function write(
  { path, text, replaces, warnings }: ComposedConfiguration,
  missing: readonly string[],
): Promise<CommandResult> {
  const [reason] = missing;
  if (reason !== undefined) return failure(`${reason}, so nothing was written`);
  const written = await writeOwnFile(path, text, replaces);
  if (!written.ok) return failure(written.fault.msg);
  const notes = warnings.join("; ");
  return { stdout: `${path}: written; new pods come through Plexus\n`, ...(notes === "" ? {} : { stderr: notes }), status: 0 };
}

const defaultCniPath = "/opt/cni/bin";

interface ConfigureOptions {
  readonly wanted: WantedConfiguration;
  /** Remarks about the options, for the administrator. */
  readonly notes: readonly string[];
  readonly write: boolean;
}

const defaultName = "00-plexus.conflist";
const defaultKubeconfig = "/etc/plexus/plexus.kubeconfig";

function readConfigureOptions(line: Invocation): ConfigureOptions | CommandLineMistake {
  const { args, flags } = line;
  const [from, template] = [valueOf(line, "from"), valueOf(line, "template")];
  const fileName = valueOf(line, "name") ?? defaultName;
  const kubeconfig = valueOf(line, "kubeconfig") ?? defaultKubeconfig;
  const cniPath = namedCniPath(line);
  if (!/^[\w.-]+\.conflist$/.test(fileName)) return { wrong: `--name ${fileName}: must be a file name that ends with .conflist` };
  if (flags.has("multus")) {
    const wrong = onlyWith(line, "configure without --multus", "from", "kubeconfig", "template");
    return wrong ?? readMultus({ fileName, write: flags.has("write"), cniPath, args });
  }
  if (args[0] !== undefined) return { wrong: `configure takes no argument; ${args[0]} is one` };
  if (from === undefined) return { wrong: "--from: name the file of the node's network" };
  for (const [name, path] of Object.entries({ from, kubeconfig }))
    if (!isAbsolute(path)) return { wrong: `--${name} ${path}: must be an absolute path` };
  const wanted = {
    directory: dirname(from),
    network: basename(from),
    members: {},
    takesName: false,
    fileName,
    kubeconfig,
    template,
    cniPath: cniPath ?? defaultCniPath,
    proposesGrants: flags.has("grants"),
  };
  return { wanted, notes: [], write: flags.has("write") };
}

interface MultusOptions {
  readonly fileName: string;
  readonly write: boolean;
  readonly cniPath: string | undefined;
  readonly args: readonly string[];
}

function readMultus({ fileName, write: writes, cniPath, args }: MultusOptions): ConfigureOptions | CommandLineMistake {
  const flags = readMultusFlags(args);
  if (!flags.ok) return { wrong: flags.fault.msg };
  const { cniBin, directory, network, configurationFile, kubeconfig, members, takesName, notes } = flags.value;
  if (configurationFile !== undefined)
    return {
      wrong: `--multus-conf-file=${configurationFile}: copy that file to the node as it is, because Plexus reads Multus' configurations`,
    };
  const wanted = {
    directory,
    network,
    members,
    takesName,
    fileName,
    kubeconfig,
    template: undefined,
    cniPath: cniPath ?? cniBin,
  };
  return { wanted, notes, write: writes };
}
