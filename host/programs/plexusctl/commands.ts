// plexusctl's commands. Each command returns its output and its exit status.

import { catalogue } from "../../../src/fault/catalogue.ts";
import { version } from "../../system/version.ts";
import { errorsText } from "./errors-text.ts";
import { formatted } from "./formatted.ts";
import type { ControlOptions } from "./options.ts";
import { readStatus } from "./read-status.ts";
import { askForRound, roundNeedsAttention, roundText } from "./reconcile.ts";
import { attachmentsText, needsAttention, statusText } from "./status-text.ts";

/** A command's output and exit status. */
export interface CommandResult {
  readonly stdout: string;
  /** A line about the error, if there is any. */
  readonly stderr?: string;
  readonly status: 0 | 1 | 2;
}

/** Runs a command of plexusctl. Never rejects for an error that the administrator can correct. */
type Run = (options: ControlOptions) => Promise<CommandResult>;

/** A command of plexusctl. */
export interface Command {
  readonly run: Run;
  /** The name of its argument in error messages; undefined: the command takes none. */
  readonly argument?: string;
}

const status: Run = async (options) => {
  const { document, silent } = await readStatus(options);
  const noAnswer = silent === undefined ? {} : { silent: { socket: options.statusSocket, why: silent } };
  return {
    stdout: await formatted(document, options.output, (width) =>
      statusText(document, { width, installedVersion: version, ...noAnswer }),
    ),
    status: needsAttention(document) ? 1 : 0,
  };
};

const attachments: Run = async (options) => {
  const { document } = await readStatus(options);
  const all = document.nodes.flatMap((node) => node.attachments);
  const text = (width: number): string => {
    const lines = attachmentsText(document.nodes, width, document.time);
    return lines.length === 0 ? "no attachments\n" : `${lines.join("\n")}\n`;
  };
  return { stdout: await formatted(all, options.output, text), status: 0 };
};

const reconcile: Run = async ({ statusSocket, dryRun, output }) => {
  const report = await askForRound(statusSocket, dryRun);
  if (typeof report === "string") {
    return { stdout: "", stderr: `reconcile needs the daemon, but ${statusSocket} gave no report: ${report}`, status: 1 };
  }
  return {
    stdout: await formatted(report, output, (width) => roundText(report, width)),
    status: roundNeedsAttention(report) ? 1 : 0,
  };
};

/** Imports lazily: only `explain` reads and admits components. */
const explain: Run = async ({ args: [target], config, cniPath, output }) => {
  const { explainTarget } = await import("./explain.ts");
  const explanation = await explainTarget({ target, config, cniPath });
  if (!explanation.ok) return { stdout: "", stderr: explanation.fault.msg, status: 1 };
  const { explanationText } = await import("./explain-text.ts");
  return {
    stdout: await formatted(explanation.value, output, (width) => explanationText(explanation.value, width)),
    status: explanation.value.loads ? 0 : 1,
  };
};

const uninstall: Run = async (options) => {
  if (options.wait || options.cancel || options.hold) return retire(options);
  const { uninstallNeedsAttention, uninstallNode, uninstallText } = await import("./uninstall.ts");
  const report = await uninstallNode(options);
  if (!report.ok) return { stdout: "", stderr: report.fault.msg, status: 1 };
  return {
    stdout: await formatted(report.value, options.output, () => uninstallText(report.value)),
    status: uninstallNeedsAttention(report.value) ? 1 : 0,
  };
};

/** Removes Plexus from the path of new pods, through the daemon that writes the network configuration. */
const retire: Run = async ({ statusSocket, cancel, wait, hold, timeoutMs, cniConfigDir, output }) => {
  const { cancelRetirement, holdRetirement, retireAndWait, retirementNeedsAttention, retirementText } =
    await import("./retire.ts");
  const init = { socketPath: statusSocket, timeoutMs, held: hold, configDirectory: cniConfigDir };
  if (!cancel && !wait) return holdRetirement(init);
  const outcome = await (cancel ? cancelRetirement(statusSocket) : retireAndWait(init));
  if (typeof outcome === "string")
    return { stdout: "", stderr: `${statusSocket}: the daemon did not do it: ${outcome}`, status: 1 };
  return {
    stdout: await formatted(outcome, output, () => retirementText(outcome)),
    status: retirementNeedsAttention(outcome) ? 1 : 0,
  };
};

/** Imports lazily: only `doctor` starts sandbox processes. */
const doctor: Run = async (options) => {
  const { diagnose, diagnosisNeedsAttention, diagnosisText } = await import("./doctor.ts");
  const diagnosis = await diagnose(options);
  return {
    stdout: await formatted(diagnosis, options.output, (width) => diagnosisText(diagnosis, width)),
    status: diagnosisNeedsAttention(diagnosis) ? 1 : 0,
  };
};

const errors: Run = async ({ args: [wanted], output }) => {
  const text = errorsText(wanted, Infinity);
  if (text === undefined)
    return { stdout: "", stderr: `no error has the kind or code ${wanted}; plexusctl errors lists all of them`, status: 2 };
  const found = Object.entries(catalogue)
    .filter(([kind, { cni }]) => wanted === undefined || kind === wanted.toUpperCase() || String(cni) === wanted)
    .map(([kind, entry]) => ({ kind, ...entry }));
  return { stdout: await formatted(found, output, (width) => errorsText(wanted, width) ?? ""), status: 0 };
};

const printVersion: Run = async ({ output }) => ({
  stdout: await formatted({ version }, output, () => `${version}\n`),
  status: 0,
});

/** The commands by their names on the command line. */
export const commands: Readonly<Record<string, Command>> = {
  status: { run: status },
  attachments: { run: attachments },
  reconcile: { run: reconcile },
  explain: { run: explain, argument: "FILE or NAMESPACE/NAME" },
  doctor: { run: doctor },
  errors: { run: errors, argument: "KIND or CODE" },
  uninstall: { run: uninstall },
  version: { run: printVersion },
};

/** The mistake in the number of a command's arguments, as one line; undefined: none. */
export function excessArgument({ argument }: Command, { command, args }: ControlOptions): string | undefined {
  const excess = args[argument === undefined ? 0 : 1];
  if (excess === undefined) return undefined;
  return argument === undefined
    ? `${command} takes no argument; ${excess} is one`
    : `${command} takes one argument, ${argument}; ${excess} is a second one`;
}
