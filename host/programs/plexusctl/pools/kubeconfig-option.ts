// The option --kubeconfig of the commands for pools.

import type { OptionSpec } from "../../../../src/command-line/command-spec.ts";
import { type CommandLine, type CommandLineMistake, valueOf } from "../../../../src/command-line/read-command-line.ts";

/** `--kubeconfig`. */
export const kubeconfigOption: OptionSpec = {
  name: "kubeconfig",
  value: "FILE",
  about: "the cluster and the credentials, by the file's current context",
  usual: "$KUBECONFIG",
  completes: "file",
};

/** The path of the kubeconfig, or the mistake that none is named. */
export function kubeconfigOf(line: CommandLine): string | CommandLineMistake {
  const path = valueOf(line, "kubeconfig") ?? process.env["KUBECONFIG"];
  return path === undefined || path === "" ? { wrong: "give --kubeconfig FILE, or set KUBECONFIG" } : path;
}
