// plexusctl uninstall: takes Plexus off this node, as far as that may be done now.

import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import type { Result } from "../../src/fault/result.ts";
import { uninstall, type UninstallReport } from "../uninstall/uninstall.ts";
import { askDaemon } from "./ask-daemon.ts";
import type { ControlOptions } from "./options.ts";

const patienceMs = 5000;

/** Fault STORE_FAILED. */
export function uninstallNode({
  config,
  cniPath,
  stateDir,
  statusSocket,
  dryRun,
}: ControlOptions): Promise<Result<UninstallReport>> {
  return uninstall({
    configurations: config,
    cniPath,
    stateDir,
    dryRun,
    // This program lies in it.
    home: dirname(realpathSync(process.argv[1] ?? "")),
    daemonRuns: async () =>
      !("why" in (await askDaemon({ socketPath: statusSocket, method: "GET", path: "/status", patienceMs }))),
  });
}

/** Something is left to be done. */
export function uninstallNeedsAttention({ stopped, left }: UninstallReport): boolean {
  return stopped !== undefined || left.length > 0;
}

/** For a person. */
export function uninstallText({ dryRun, released, heir, removed, left, stopped }: UninstallReport): string {
  const would = dryRun ? "would be " : "";
  const lines = [
    ...released.map((path) => `${path}: ${would}put aside as ${path}.uninstalled; the next pods get ${heir}`),
    ...removed.map((path) => `${path}: ${would}removed`),
    ...left.map(({ path, why }) => `${path}: left: ${why}`),
    ...(stopped === undefined ? [] : [`Not done: ${stopped.why}.`, `To do: ${stopped.remedy}.`]),
  ];
  return lines.length === 0 ? "nothing of Plexus was found\n" : `${lines.join("\n")}\n`;
}
