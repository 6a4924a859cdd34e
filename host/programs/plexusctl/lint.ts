// plexusctl lint: mistakes in configurations and definitions, with their places.

import { type CommandLineMistake, valueOf } from "../../../src/command-line/read-command-line.ts";
import { sarifLog } from "../../../src/lint/sarif.ts";
import { lint, type LintReport } from "../../node/lint/lint.ts";
import { readClusterFromApi } from "../../node/migrate/read-cluster.ts";
import { version } from "../../system/version.ts";
import { administratorCredentials } from "./cluster-access/access-options.ts";
import { type CommandResult, failure, type Invocation } from "../../node/command-line/command.ts";
import { cniPathOf, configOf } from "../../node/command-line/common-options.ts";
import { jsonText, printed } from "../../node/command-line/printed.ts";
import { findingLines } from "./finding-text.ts";

/** Runs `plexusctl lint`. Status 1: there is an error, or with --strict a warning. */
export async function lintCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const { args, flags } = line;
  const kubeconfig = valueOf(line, "kubeconfig");
  if (args.length === 0 && !flags.has("node") && kubeconfig === undefined)
    return { wrong: "lint: name files, or give --node or --kubeconfig" };
  if (flags.has("sarif") && valueOf(line, "output") !== undefined) return { wrong: "--sarif: -o is not possible with it" };
  const credentials = kubeconfig === undefined ? undefined : administratorCredentials(kubeconfig);
  const cluster = credentials && (await readClusterFromApi(credentials, ["NetworkAttachmentDefinition"]));
  if (cluster !== undefined && !cluster.ok) return failure(cluster.fault.msg);
  const init = {
    files: args,
    node: flags.has("node"),
    objects: cluster?.value ?? [],
    config: configOf(line),
    cniPath: cniPathOf(line),
  };
  const report = await lint(init);
  const isBad = report.findings.some(({ severity }) => severity === "error" || (flags.has("strict") && severity === "warning"));
  const status = isBad ? 1 : 0;
  if (flags.has("sarif")) return { stdout: `${jsonText(sarifLog(report.findings, version))}\n`, status };
  const names = (): readonly string[] =>
    report.findings.map(({ file, line: at, column, rule }) => `${file}:${at}:${column} ${rule}`);
  return { stdout: await printed({ value: report, text: (width) => lintText(report, width), names }, line), status };
}

function lintText({ networks, findings }: LintReport, width: number): string {
  const lines = findings.flatMap((finding) => {
    const { file, line, column, rule, object, message } = finding;
    const text = `${object === "" ? "" : `${object}: `}${message} [${rule}]`;
    return findingLines({ ...finding, message: text }, `${file}:${line}:${column}`, width);
  });
  const count = (severity: string): number => findings.filter((each) => each.severity === severity).length;
  const sum = `${networks} networks: ${count("error")} errors, ${count("warning")} warnings, ${count("note")} notes`;
  return `${[...lines, sum].join("\n")}\n`;
}
