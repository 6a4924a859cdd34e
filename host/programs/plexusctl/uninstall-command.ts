// The command line of plexusctl uninstall: the removal of the files, or of the daemon's network configuration.

import { type CommandLineMistake, valueOf } from "../../../src/command-line/read-command-line.ts";
import { type CommandResult, failure, type Invocation } from "../../node/command-line/command.ts";
import {
  cniPathOf,
  configOf,
  notAbsolute,
  onlyWith,
  stateDirOf,
  statusSocketOf,
} from "../../node/command-line/common-options.ts";
import { printed } from "../../node/command-line/printed.ts";
import { cancelRemoval, holdRemoval, removeThroughDaemon, removalNeedsAttention, removalText } from "./removal-by-daemon.ts";
import { uninstallNeedsAttention, uninstallNode, uninstallText } from "./uninstall.ts";

const defaultSeconds = 600;

/** Runs `plexusctl uninstall`. */
export async function uninstallCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const { flags } = line;
  const wrong = mistakeIn(line);
  if (wrong !== undefined) return wrong;
  if (flags.has("wait") || flags.has("cancel") || flags.has("hold")) return removeByDaemon(line);
  const report = await uninstallNode({
    config: configOf(line),
    cniPath: cniPathOf(line),
    stateDir: stateDirOf(line),
    statusSocket: statusSocketOf(line),
    dryRun: flags.has("dry-run"),
    force: flags.has("force"),
  });
  if (!report.ok) return failure(report.fault.msg);
  const { value } = report;
  const printable = { value, text: () => uninstallText(value), names: () => value.removed };
  return { stdout: await printed(printable, line), status: uninstallNeedsAttention(value) ? 1 : 0 };
}

/** Removes Plexus from the path of new pods, through the daemon that writes the network configuration. */
async function removeByDaemon(line: Invocation): Promise<CommandResult> {
  const { flags } = line;
  const socketPath = statusSocketOf(line);
  const timeoutMs = secondsOf(line) * 1000;
  const held = flags.has("hold");
  const configDirectory = valueOf(line, "cni-config-dir");
  if (!flags.has("cancel") && !flags.has("wait")) return holdRemoval(socketPath, configDirectory);
  const outcome = await (flags.has("cancel")
    ? cancelRemoval(socketPath)
    : removeThroughDaemon(socketPath, timeoutMs, held, configDirectory));
  if (typeof outcome === "string") return failure(`${socketPath}: the daemon did not do it: ${outcome}`);
  const names = (): readonly string[] => outcome.pods.map(({ pod }) => pod);
  return {
    stdout: await printed({ value: outcome, text: () => removalText(outcome), names }, line),
    status: removalNeedsAttention(outcome) ? 1 : 0,
  };
}

function mistakeIn(line: Invocation): CommandLineMistake | undefined {
  const { flags } = line;
  const waits = flags.has("wait") || flags.has("hold");
  const seconds = valueOf(line, "timeout");
  if (!flags.has("wait") && seconds !== undefined) return onlyWith(line, "uninstall --wait", "timeout");
  if (!waits && line.values.has("cni-config-dir")) return onlyWith(line, "uninstall with --wait or --hold", "cni-config-dir");
  if (waits && (flags.has("cancel") || flags.has("dry-run") || flags.has("force")))
    return { wrong: "--wait and --hold go neither with --cancel nor with --dry-run nor with --force" };
  if (seconds !== undefined && (!/^\d{1,5}$/.test(seconds) || Number(seconds) > 86_400))
    return { wrong: `--timeout ${seconds}: must be a whole number from 0 to 86400` };
  return notAbsolute(line, "status-socket", "state-dir", "cni-config-dir");
}

function secondsOf(line: Invocation): number {
  return Number(valueOf(line, "timeout") ?? defaultSeconds);
}
