// Options that several commands share, and how they are read.

import { isAbsolute } from "node:path";
import type { OptionSpec } from "../../../src/command-line/command-spec.ts";
import { type CommandLine, type CommandLineMistake, valueOf } from "../../../src/command-line/read-command-line.ts";

const defaultStatusSocket = "/run/plexus/status.sock";
const defaultStateDir = "/var/lib/cni/plexus";
const defaultConfig = "/etc/cni/net.d";
const defaultCniPath = "/opt/cni/bin";

/** `--status-socket`. */
export const statusSocketOption: OptionSpec = {
  name: "status-socket",
  value: "PATH",
  about: "the daemon's status socket",
  usual: defaultStatusSocket,
  completes: "file",
};

/** `--state-dir`. */
export const stateDirOption: OptionSpec = {
  name: "state-dir",
  value: "PATH",
  about: "the state directory (cniDir), which is read if no daemon answers",
  usual: defaultStateDir,
  completes: "directory",
};

/** `--config`. */
export const configOption: OptionSpec = {
  name: "config",
  value: "PATH",
  about: "Plexus' own configuration, a file or its directory",
  usual: defaultConfig,
  completes: "file",
};

/** `--cni-path`. */
export const cniPathOption: OptionSpec = {
  name: "cni-path",
  value: "DIR[:DIR…]",
  about: "directories of plugins",
  usual: `$CNI_PATH, else ${defaultCniPath}`,
  completes: "directory",
};

/** `--dry-run`. */
export const dryRunOption: OptionSpec = { name: "dry-run", about: "only reports, and changes nothing" };

/** The path of the status socket. */
export function statusSocketOf(line: CommandLine): string {
  return valueOf(line, "status-socket") ?? defaultStatusSocket;
}

/** The state directory. */
export function stateDirOf(line: CommandLine): string {
  return valueOf(line, "state-dir") ?? defaultStateDir;
}

/** The path of Plexus' own configuration. */
export function configOf(line: CommandLine): string {
  return valueOf(line, "config") ?? defaultConfig;
}

/** The directories of plugins, separated by colons; undefined if neither the command line nor the environment names them. */
export function namedCniPath(line: CommandLine): string | undefined {
  return valueOf(line, "cni-path") ?? process.env["CNI_PATH"];
}

/** The directories of plugins, separated by colons. */
export function cniPathOf(line: CommandLine): string {
  return namedCniPath(line) ?? defaultCniPath;
}

/** The places on a node that Plexus uses, as commands find them. */
export interface NodePlaces {
  readonly statusSocket: string;
  readonly stateDir: string;
  /** Plexus' own configuration: its file, or the directory with that file. */
  readonly config: string;
  /** The directories of plugins, separated by colons. */
  readonly cniPath: string;
}

/** The options that name these places to another command, without those that have the usual value. */
export function placeOptions({ statusSocket, stateDir, config, cniPath }: NodePlaces): readonly string[] {
  const options = [
    [statusSocketOption.name, statusSocket, defaultStatusSocket],
    [stateDirOption.name, stateDir, defaultStateDir],
    [configOption.name, config, defaultConfig],
    [cniPathOption.name, cniPath, defaultCniPath],
  ] as const;
  return options.flatMap(([name, value, usual]) => (value === usual ? [] : [`--${name} ${value}`]));
}

/** The places that the command line names, and the usual ones. */
export function nodePlacesOf(line: CommandLine): NodePlaces {
  return { statusSocket: statusSocketOf(line), stateDir: stateDirOf(line), config: configOf(line), cniPath: cniPathOf(line) };
}

/** The mistake of the first of these options whose value is not an absolute path. */
export function notAbsolute(line: CommandLine, ...names: readonly string[]): CommandLineMistake | undefined {
  const name = names.find((each) => !isAbsolute(valueOf(line, each) ?? "/"));
  return name === undefined ? undefined : { wrong: `--${name} ${valueOf(line, name)}: must be an absolute path` };
}

/** The mistake of the first of these options that was written, although it needs another one. */
export function onlyWith(line: CommandLine, needed: string, ...names: readonly string[]): CommandLineMistake | undefined {
  const name = names.find((each) => line.flags.has(each) || line.values.has(each));
  return name === undefined ? undefined : { wrong: `--${name}: only ${needed} has it` };
}

/** `--in-cluster` and `--kubeconfig`. */
export const accessOptions: readonly OptionSpec[] = [
  { name: "in-cluster", about: "uses the service account of this pod instead of a kubeconfig" },
  {
    name: "kubeconfig",
    value: "FILE",
    about: "the cluster and the credentials, by the file's current context",
    usual: "$KUBECONFIG, or ~/.kube/config",
    completes: "file",
  },
];
