// plexusctl status and plexusctl attachments.

import { existsSync } from "node:fs";
import type { CommandLineMistake } from "../../../src/command-line/read-command-line.ts";
import type { AttachmentState } from "../../node/state/node-state.ts";
import { version } from "../../system/version.ts";
import type { CommandResult, Invocation } from "../../node/command-line/command.ts";
import { notAbsolute, stateDirOf, statusSocketOf } from "../../node/command-line/common-options.ts";
import { printed } from "../../node/command-line/printed.ts";
import { readStatus } from "./read-status.ts";
import { attachmentsText, needsAttention, statusText } from "./status-text.ts";

/** Runs `plexusctl status`. */
export async function statusCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const wrong = notAbsolute(line, "status-socket", "state-dir");
  if (wrong !== undefined) return wrong;
  const socket = statusSocketOf(line);
  const { document, silent } = await readStatus(socket, stateDirOf(line));
  const noAnswer = silent === undefined ? undefined : { socket, why: silent };
  const text = (width: number): string => statusText(document, width, version, noAnswer);
  const names = (): readonly string[] => document.nodes.flatMap((node) => node.attachments.map(attachmentName));
  return { stdout: await printed({ value: document, text, names }, line), status: needsAttention(document) ? 1 : 0 };
}

/** Runs `plexusctl attachments`. */
export async function attachmentsCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const wrong = notAbsolute(line, "status-socket", "state-dir");
  if (wrong !== undefined) return wrong;
  const stateDir = stateDirOf(line);
  const { document } = await readStatus(statusSocketOf(line), stateDir);
  const all = document.nodes.flatMap((node) => node.attachments);
  const problems = document.nodes.flatMap((node) => node.problems);
  const text = (width: number): string => {
    const lines = attachmentsText(document.nodes, width, document.time);
    return lines.length === 0 ? "no attachments\n" : `${lines.join("\n")}\n`;
  };
  const stdout = await printed({ value: all, text, names: () => all.map(attachmentName) }, line);
  if (problems.length === 0) return { stdout, status: 0 };
  // On a new node the first call makes the directory. Any other problem may hide attachments.
  const isNew = problems.length === 1 && !existsSync(stateDir);
  return { stdout, stderr: `attachments may be missing: ${problems.join("; ")}`, status: isNew ? 0 : 1 };
}

/** A container that is no pod has its id as its name. */
function attachmentName({ pod, container, ifname }: AttachmentState): string {
  return `${pod === "" ? container : pod} ${ifname}`;
}
