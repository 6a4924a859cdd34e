// plexusctl status and plexusctl attachments.

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
  const { document, silent } = await readStatus({ statusSocket: socket, stateDir: stateDirOf(line) });
  const noAnswer = silent === undefined ? {} : { silent: { socket, why: silent } };
  const text = (width: number): string => statusText(document, { width, installedVersion: version, ...noAnswer });
  const names = (): readonly string[] => document.nodes.flatMap((node) => node.attachments.map(attachmentName));
  return { stdout: await printed({ value: document, text, names }, line), status: needsAttention(document) ? 1 : 0 };
}

/** Runs `plexusctl attachments`. */
export async function attachmentsCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const wrong = notAbsolute(line, "status-socket", "state-dir");
  if (wrong !== undefined) return wrong;
  const { document } = await readStatus({ statusSocket: statusSocketOf(line), stateDir: stateDirOf(line) });
  const all = document.nodes.flatMap((node) => node.attachments);
  const text = (width: number): string => {
    const lines = attachmentsText(document.nodes, width, document.time);
    return lines.length === 0 ? "no attachments\n" : `${lines.join("\n")}\n`;
  };
  return { stdout: await printed({ value: all, text, names: () => all.map(attachmentName) }, line), status: 0 };
}

/** A container that is no pod has its id as its name. */
function attachmentName({ pod, container, ifname }: AttachmentState): string {
  return `${pod === "" ? container : pod} ${ifname}`;
}
