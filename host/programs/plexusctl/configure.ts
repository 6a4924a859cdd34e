// plexusctl configure: Plexus' configuration for a node, from the network that the node has.

import { existsSync } from "node:fs";
import { basename, dirname, isAbsolute } from "node:path";
import { parseArgs } from "node:util";
import { readMultusFlags } from "../../../src/configuration/multus-flags.ts";
import { type ComposedConfiguration, composeConfiguration, type ConfigureInit } from "../../node/configure/configure.ts";
import { writeOwnFile } from "../../node/cni-configuration/own-file.ts";
import type { CommandResult } from "./commands.ts";

/** The help text. */
const configureUsage = `plexusctl configure: makes Plexus' configuration from the node's network

  --from FILE             the node's network, such as
                          /etc/cni/net.d/10-flannel.conflist
  --write                 writes the configuration beside FILE, atomically;
                          without it the configuration is printed
  --name NAME             its file name, which must sort before all other
                          networks (00-plexus.conflist)
  --kubeconfig FILE       the kubeconfig that it names
                          (/etc/plexus/plexus.kubeconfig)
  --template FILE         Plexus' configuration without a default network: its
                          grants, rules for definitions and other keys
  --cni-path DIR[:DIR…]   directories of plugins ($CNI_PATH, else /opt/cni/bin)
  --multus -- FLAGS       in place of --from, --kubeconfig and --template: the
                          flags of Multus' thin entry point, with their meaning
  --help                  shows this text

Without a template, components of the network get the grants that they need,
and NetworkAttachmentDefinitions may use components that change nothing on the
node: docs/how-to/definitions.md. Exit status: 0: done. 1: no configuration is
possible. 2: a mistake in the command line.
`;

/** Runs `plexusctl configure` with the arguments after the command's name. */
export async function configureCommand(args: readonly string[]): Promise<CommandResult> {
  const options = readConfigureOptions(args);
  if (options === "help") return { stdout: configureUsage, status: 0 };
  if ("wrong" in options)
    return { stdout: "", stderr: `${options.wrong} (plexusctl configure --help lists the options)`, status: 2 };
  const found = await composeConfiguration(options.init);
  if (!found.ok) return { stdout: "", stderr: found.fault.msg, status: 1 };
  const composed = { ...found, value: { ...found.value, warnings: [...options.notes, ...found.value.warnings] } };
  const lacksKubeconfig =
    composed.value.text.includes(JSON.stringify(options.init.kubeconfig)) && !existsSync(options.init.kubeconfig);
  const missing = lacksKubeconfig ? [`${options.init.kubeconfig} does not exist yet: every call would fail`] : [];
  if (options.write) return write(composed.value, missing);
  const notes = [...composed.value.warnings, ...missing].join("; ");
  return { stdout: composed.value.text, ...(notes === "" ? {} : { stderr: notes }), status: 0 };
}

async function write(
  { path, text, replaces, warnings }: ComposedConfiguration,
  missing: readonly string[],
): Promise<CommandResult> {
  const [reason] = missing;
  if (reason !== undefined) return { stdout: "", stderr: `${reason}, so nothing was written`, status: 1 };
  const written = await writeOwnFile(path, text, replaces);
  if (!written.ok) return { stdout: "", stderr: written.fault.msg, status: 1 };
  const notes = warnings.join("; ");
  return { stdout: `${path}: written; new pods come through Plexus\n`, ...(notes === "" ? {} : { stderr: notes }), status: 0 };
}

const defaultCniPath = "/opt/cni/bin";

interface ConfigureOptions {
  readonly init: ConfigureInit;
  /** Remarks about the options, for the administrator. */
  readonly notes: readonly string[];
  readonly write: boolean;
}

function readConfigureOptions(args: readonly string[]): ConfigureOptions | "help" | { readonly wrong: string } {
  try {
    const { values, positionals } = parse(args);
    if (values.help === true) return "help";
    const { from, name: fileName, kubeconfig, template } = values;
    const cniPath = values["cni-path"] ?? process.env["CNI_PATH"];
    if (values.multus === true) return readMultus({ fileName, write: values.write === true, cniPath, args: positionals });
    if (positionals[0] !== undefined) return { wrong: `configure takes no argument; ${positionals[0]} is one` };
    if (from === undefined) return { wrong: "--from: name the file of the node's network" };
    for (const [name, path] of Object.entries({ from, kubeconfig }))
      if (!isAbsolute(path)) return { wrong: `--${name} ${path}: must be an absolute path` };
    if (!/^[\w.-]+\.conflist$/.test(fileName))
      return { wrong: `--name ${fileName}: must be a file name that ends with .conflist` };
    const init = {
      directory: dirname(from),
      network: basename(from),
      members: {},
      takesName: false,
      fileName,
      kubeconfig,
      template,
      cniPath: cniPath ?? defaultCniPath,
    };
    return { init, notes: [], write: values.write === true };
  } catch (error) {
    // The messages of parseArgs have several sentences; the first names the mistake.
    const [wrong = ""] = (error instanceof Error ? error.message : String(error)).split(/\n|\. /);
    return { wrong };
  }
}

interface MultusOptions {
  readonly fileName: string;
  readonly write: boolean;
  readonly cniPath: string | undefined;
  readonly args: readonly string[];
}

function readMultus({ fileName, write: writes, cniPath, args }: MultusOptions): ConfigureOptions | { readonly wrong: string } {
  const flags = readMultusFlags(args);
  if (!flags.ok) return { wrong: flags.fault.msg };
  const { cniBin, directory, network, configurationFile, kubeconfig, members, takesName, notes } = flags.value;
  if (configurationFile !== undefined)
    return {
      wrong: `--multus-conf-file=${configurationFile}: copy that file to the node as it is, because Plexus reads Multus' configurations`,
    };
  const init = { directory, network, members, takesName, fileName, kubeconfig, template: undefined, cniPath: cniPath ?? cniBin };
  return { init, notes, write: writes };
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      multus: { type: "boolean" },
      from: { type: "string" },
      write: { type: "boolean" },
      name: { type: "string", default: "00-plexus.conflist" },
      kubeconfig: { type: "string", default: "/etc/plexus/plexus.kubeconfig" },
      template: { type: "string" },
      "cni-path": { type: "string" },
      help: { type: "boolean" },
    },
  });
}
