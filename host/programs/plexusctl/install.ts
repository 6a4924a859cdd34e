// plexusctl install: copies Plexus to a node. It needs neither a daemon nor an earlier installation.

import { realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type CommandLineMistake, valueOf } from "../../../src/command-line/read-command-line.ts";
import { install, type NodeInstallation, type InstallReport } from "../../node/install/install.ts";
import { removeInstallation } from "../../node/install/remove-installation.ts";
import { type CommandResult, failure, type Invocation } from "../../node/command-line/command.ts";
import { notAbsolute, statusSocketOf } from "../../node/command-line/common-options.ts";
import { printed } from "../../node/command-line/printed.ts";
import { removeUnneeded, type InstalledState } from "./remove-unneeded.ts";

/** Runs `plexusctl install`. */
export async function installCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const options = readInstallOptions(line);
  if ("wrong" in options) return options;
  if (options.removes) return removal(options, line);
  const report = install(options.target);
  if (!report.ok) return failure(report.fault.msg);
  const { value } = report;
  const printable = { value, text: () => installText(value), names: () => value.written };
  return { stdout: await printed(printable, line), status: 0 };
}

/** The report as text. */
export function installText({ dryRun, home, cniBin, written, unchanged, kept, removed, codeCaches }: InstallReport): string {
  const would = dryRun ? "would be " : "";
  const places = home === null ? join(cniBin, "plexus") : `${join(cniBin, "plexus")} and ${home}`;
  const lines = [
    ...written.map((path) => `${path}: ${would}written`),
    ...removed.map((path) => `${path}: ${would}removed (an earlier installation)`),
    ...kept.map(({ path, why }) => `${path}: stays: ${why}`),
    ...(codeCaches?.written ?? []).map((path) => `${path}: made`),
    ...(codeCaches === null || codeCaches.failed === null
      ? []
      : [`plexus: V8's code caches are missing, so programs start more slowly: ${codeCaches.failed}`]),
    `plexus: ${dryRun ? "would install" : "installed"} ${places} (files written: ${written.length}, unchanged: ${unchanged})`,
  ];
  return `${lines.join("\n")}\n`;
}

async function removal({ target, unneeded }: InstallOptions, line: Invocation): Promise<CommandResult> {
  const report = unneeded === undefined ? removeInstallation(target) : await removeUnneeded(target, unneeded);
  if (!report.ok) return failure(report.fault.msg);
  const { value } = report;
  if ("stay" in value) {
    const printable = { value, text: () => `Plexus' files stay: ${value.stay}\n`, names: () => [] };
    return { stdout: await printed(printable, line), status: 0 };
  }
  const { removed, left } = value;
  const would = target.dryRun ? "would be " : "";
  const lines = [
    ...removed.map((path) => `${path}: ${would}removed`),
    ...left.map(({ path, why }) => `${path}: not removed: ${why}`),
    ...(removed.length + left.length === 0 ? ["no file of Plexus was found"] : []),
  ];
  const printable = { value, text: () => `${lines.join("\n")}\n`, names: () => removed };
  return { stdout: await printed(printable, line), status: left.length === 0 || unneeded !== undefined ? 0 : 1 };
}

/** The directory where other plugins have their leases, too. */
const leasesOfPlugins = "/var/lib/cni";

interface InstallOptions {
  readonly target: NodeInstallation;
  /** Whether the installation is removed. */
  readonly removes: boolean;
  /** Undefined: the files are removed without asking the daemon. */
  readonly unneeded: InstalledState | undefined;
}

function readInstallOptions(line: Invocation): InstallOptions | CommandLineMistake {
  const { flags } = line;
  const wrong = notAbsolute(line, "home", "cni-bin", "root", "status-socket", "purge-state");
  if (wrong !== undefined) return wrong;
  const isUnneeded = flags.has("if-unneeded");
  if (isUnneeded && !flags.has("remove")) return { wrong: "--if-unneeded: only --remove has it" };
  const purge = valueOf(line, "purge-state");
  const purgeState = purge === undefined ? undefined : resolve(purge);
  if (purgeState !== undefined && !isUnneeded) return { wrong: "--purge-state: only --remove --if-unneeded has it" };
  const unneeded = isUnneeded ? { statusSocket: statusSocketOf(line), purgeState } : undefined;
  const from = valueOf(line, "from");
  const target = {
    from: from === undefined ? dirname(realpathSync(process.argv[1] ?? "")) : resolve(from),
    ownNode: process.execPath,
    home: resolve(valueOf(line, "home") ?? "/opt/plexus"),
    cniBin: resolve(valueOf(line, "cni-bin") ?? "/opt/cni/bin"),
    root: resolve(valueOf(line, "root") ?? "/"),
    oneShot: valueOf(line, "one-shot") === "off" ? "off" : "node",
    components: valueOf(line, "components") ?? "all",
    ownCaches: flags.has("own-caches"),
    dryRun: flags.has("dry-run"),
  } as const;
  const foreign = purgeState === undefined ? undefined : foreignBelow(purgeState, target);
  if (foreign !== undefined) return { wrong: `--purge-state ${purgeState}: ${foreign} has more than the state of Plexus` };
  return { target, removes: flags.has("remove"), unneeded };
}

/** A directory in `directory`, or the directory itself, that has more than Plexus' state; undefined if there is none. */
function foreignBelow(directory: string, { root, home, cniBin }: NodeInstallation): string | undefined {
  const above = directory === "/" ? "/" : `${directory}/`;
  const shared = [leasesOfPlugins, home, cniBin].map((path) => join(root, path));
  return [...shared, root].find((path) => `${path}/`.startsWith(above));
}
