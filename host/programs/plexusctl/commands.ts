// plexusctl's commands: each answers what it prints and its exit status.

import { catalogue } from "../../src/fault/catalogue.ts";
import { version } from "../version.ts";
import { errorsText } from "./errors-text.ts";
import type { ControlOptions, Output } from "./options.ts";
import { readStatus } from "./read-status.ts";
import { askForRound, roundNeedsAttention, roundText } from "./reconcile.ts";
import { attachmentsText, needsAttention, statusText } from "./status-text.ts";

export interface Answered {
  readonly stdout: string;
  /** One line, where something is wrong. */
  readonly stderr?: string;
  readonly status: 0 | 1 | 2;
}

export type Command = (options: ControlOptions) => Promise<Answered>;

/** Columns of a table. */
const tableWidth = 80;

const status: Command = async (options) => {
  const { document, silent } = await readStatus(options);
  const asked = silent === undefined ? {} : { silent: { socket: options.statusSocket, why: silent } };
  return {
    stdout: await printed(document, options.output, (width) => statusText(document, { width, ...asked })),
    status: needsAttention(document) ? 1 : 0,
  };
};

const attachments: Command = async (options) => {
  const { document } = await readStatus(options);
  const all = document.nodes.flatMap((node) => node.attachments);
  const text = (width: number): string => {
    const lines = attachmentsText(document.nodes, width, document.time);
    return lines.length === 0 ? "no attachments\n" : `${lines.join("\n")}\n`;
  };
  return { stdout: await printed(all, options.output, text), status: 0 };
};

const reconcile: Command = async ({ statusSocket, dryRun, output }) => {
  const report = await askForRound(statusSocket, dryRun);
  if (typeof report === "string") {
    return { stdout: "", stderr: `the daemon has to do it, and none answers on ${statusSocket}: ${report}`, status: 1 };
  }
  return {
    stdout: await printed(report, output, (width) => roundText(report, width)),
    status: roundNeedsAttention(report) ? 1 : 0,
  };
};

/** Loads what reads and admits components only here: nothing else of plexusctl needs it. */
const explain: Command = async ({ args: [target, second], config, cniPath, output }) => {
  if (second !== undefined)
    return { stdout: "", stderr: `explain takes one file or NAMESPACE/NAME, not ${second} besides`, status: 2 };
  const { explainTarget } = await import("./explain.ts");
  const explanation = await explainTarget({ target, config, cniPath });
  if (!explanation.ok) return { stdout: "", stderr: explanation.fault.msg, status: 1 };
  const { explanationText } = await import("./explain-text.ts");
  return {
    stdout: await printed(explanation.value, output, (width) => explanationText(explanation.value, width)),
    status: explanation.value.loads ? 0 : 1,
  };
};

const uninstall: Command = async (options) => {
  const [target] = options.args;
  if (target !== undefined) return { stdout: "", stderr: `uninstall takes no argument, and not ${target}`, status: 2 };
  const { uninstallNeedsAttention, uninstallNode, uninstallText } = await import("./uninstall.ts");
  const report = await uninstallNode(options);
  if (!report.ok) return { stdout: "", stderr: report.fault.msg, status: 1 };
  return {
    stdout: await printed(report.value, options.output, () => uninstallText(report.value)),
    status: uninstallNeedsAttention(report.value) ? 1 : 0,
  };
};

const errors: Command = async ({ args: [wanted], output }) => {
  const text = errorsText(wanted, Infinity);
  if (text === undefined)
    return { stdout: "", stderr: `no fault has the kind or code ${wanted}; plexusctl errors lists them`, status: 2 };
  const found = Object.entries(catalogue)
    .filter(([kind, { cni }]) => wanted === undefined || kind === wanted.toUpperCase() || String(cni) === wanted)
    .map(([kind, entry]) => ({ kind, ...entry }));
  return { stdout: await printed(found, output, (width) => errorsText(wanted, width) ?? ""), status: 0 };
};

const tellVersion: Command = async ({ output }) => ({
  stdout: await printed({ version }, output, () => `${version}\n`),
  status: 0,
});

/** By name. */
export const commands: Readonly<Record<string, Command>> = {
  status,
  attachments,
  reconcile,
  explain,
  errors,
  uninstall,
  version: tellVersion,
};

async function printed(value: unknown, output: Output, text: (width: number) => string): Promise<string> {
  switch (output) {
    case "json":
      return `${JSON.stringify(value, undefined, 2)}\n`;
    case "yaml": {
      const { stringify } = await import("yaml");
      return stringify(value);
    }
    case "wide":
      return text(Infinity);
    default:
      return text(tableWidth);
  }
}
