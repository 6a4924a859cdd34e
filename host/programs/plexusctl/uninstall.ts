// plexusctl uninstall: removes Plexus from this node, as far as attached pods allow that now.

import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { inertLine } from "../../../src/text/inert-text.ts";
import type { Result } from "../../../src/fault/result.ts";
import { uninstall, type UninstallReport } from "../../node/uninstall/uninstall.ts";
import { askDaemon } from "../../node/command-line/ask-daemon.ts";

const timeoutMs = 5000;
/** Maximum length of a line, in UTF-16 units. */
const maxLine = 4096;

/** The options of the removal. */
export interface UninstallOptions {
  /** The directory of network configurations. */
  readonly config: string;
  readonly cniPath: string;
  readonly stateDir: string;
  readonly statusSocket: string;
  readonly dryRun: boolean;
  /** Whether files are removed although pods are attached. */
  readonly force: boolean;
}

/** Runs the removal with the command's options. Fault STORE_FAILED. */
export function uninstallNode({
  config,
  cniPath,
  stateDir,
  statusSocket,
  dryRun,
  force,
}: UninstallOptions): Promise<Result<UninstallReport>> {
  return uninstall({
    configurations: config,
    cniPath,
    stateDir,
    dryRun,
    force,
    // plexusctl is installed in the home directory itself.
    home: dirname(realpathSync(process.argv[1] ?? "")),
    // A daemon that writes none answers 409; without a daemon no program restores the file.
    withdraw: async () =>
      void (await askDaemon({ socketPath: statusSocket, method: "POST", path: "/removal?finish", timeoutMs })),
    daemonRuns: async () =>
      !("why" in (await askDaemon({ socketPath: statusSocket, method: "GET", path: "/status", timeoutMs }))),
  });
}

/** Whether the administrator still has something to do. */
export function uninstallNeedsAttention({ stopped, left }: UninstallReport): boolean {
  return stopped !== undefined || left.length > 0;
}

/** The report as text. */
export function uninstallText({ dryRun, released, heir, removed, left, abandoned, stopped }: UninstallReport): string {
  const would = dryRun ? "would be " : "";
  const lines = [
    ...released.map((path) => `${path}: ${would}renamed to ${path}.uninstalled; new pods get the network of ${heir}`),
    ...removed.map((path) => `${path}: ${would}removed`),
    ...left.map(({ path, why }) => `${path}: not removed: ${why}`),
    ...abandoned.map((text) => `Remains: ${text}`),
    ...(stopped === undefined ? [] : [`Not done: ${stopped.why}.`, `To do: ${stopped.remedy}.`]),
  ];
  return lines.length === 0 ? "no file of Plexus was found\n" : lines.map((line) => `${inertLine(line, maxLine)}\n`).join("");
}
