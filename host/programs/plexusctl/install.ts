// plexusctl install: copies Plexus to a node. It needs neither a daemon nor an earlier installation.

import { realpathSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { install, type InstallInit, type InstallReport } from "../../node/install/install.ts";
import { removeInstallation } from "../../node/install/remove-installation.ts";
import type { CommandResult } from "./commands.ts";
import { removeUnneeded, type RemoveUnneededInit } from "./remove-unneeded.ts";

/** The help text. */
export const installUsage = `plexusctl install: installs Plexus on a node while pods start

  --from DIR              the release to install: an unpacked release or a build
                          (the directory of this plexusctl)
  --home DIR              the directory of engine and Node on the node
                          (/opt/plexus)
  --cni-bin DIR           the node's directory of plugins (/opt/cni/bin)
  --root DIR              where the node's root directory is mounted, for an
                          installer in a container (/)
  --one-shot node|off     off: only shim and components are installed, so calls
                          need the daemon (node)
  --components LIST       all, none, or names separated by commas (all)
  --remove                removes what an installation wrote and nobody changed;
                          no pod may need it for its DEL any more
  --if-unneeded           for --remove: asks the daemon, and removes nothing if a
                          pod of this node may need the files
  --purge-state DIR       for --if-unneeded: removes this state directory, too
  --status-socket PATH    for --if-unneeded: the daemon's status socket
                          (/run/plexus/status.sock)
  --dry-run               only reports
  -o, --output FORMAT     table or json
  --help                  shows this text

Each file is replaced by one rename, after the new programs have run once. A
file that has the right content is not written. Exit status: 0: installed. 1:
not installed; the node has what it had. 2: a mistake in the command line.
`;

/** Runs `plexusctl install` with the arguments after the command's name. */
export async function installCommand(args: readonly string[]): Promise<CommandResult> {
  const options = readInstallOptions(args);
  if (options === "help") return { stdout: installUsage, status: 0 };
  if ("wrong" in options)
    return { stdout: "", stderr: `${options.wrong} (plexusctl install --help lists the options)`, status: 2 };
  if (options.removes) return removal(options);
  const report = install(options.init);
  if (!report.ok) return { stdout: "", stderr: report.fault.msg, status: 1 };
  return { stdout: options.json ? `${JSON.stringify(report.value, undefined, 2)}\n` : installText(report.value), status: 0 };
}

/** The report as text. */
export function installText({ dryRun, home, cniBin, written, unchanged, kept, removed }: InstallReport): string {
  const would = dryRun ? "would be " : "";
  const places = home === null ? join(cniBin, "plexus") : `${join(cniBin, "plexus")} and ${home}`;
  const lines = [
    ...written.map((path) => `${path}: ${would}written`),
    ...removed.map((path) => `${path}: ${would}removed (an earlier installation)`),
    ...kept.map(({ path, why }) => `${path}: stays: ${why}`),
    `plexus: ${dryRun ? "would install" : "installed"} ${places} (files written: ${written.length}, unchanged: ${unchanged})`,
  ];
  return `${lines.join("\n")}\n`;
}

async function removal({ init, unneeded, json }: InstallOptions): Promise<CommandResult> {
  const report = unneeded === undefined ? removeInstallation(init) : await removeUnneeded({ ...init, ...unneeded });
  if (!report.ok) return { stdout: "", stderr: report.fault.msg, status: 1 };
  if ("stay" in report.value) {
    const { stay } = report.value;
    return { stdout: json ? `${JSON.stringify({ stay }, undefined, 2)}\n` : `Plexus' files stay: ${stay}\n`, status: 0 };
  }
  const { removed, left } = report.value;
  const would = init.dryRun ? "would be " : "";
  const lines = [
    ...removed.map((path) => `${path}: ${would}removed`),
    ...left.map(({ path, why }) => `${path}: not removed: ${why}`),
    ...(removed.length + left.length === 0 ? ["no file of Plexus was found"] : []),
  ];
  const stdout = json ? `${JSON.stringify(report.value, undefined, 2)}\n` : `${lines.join("\n")}\n`;
  return { stdout, status: left.length === 0 || unneeded !== undefined ? 0 : 1 };
}

interface InstallOptions {
  readonly init: InstallInit;
  /** Whether the installation is removed. */
  readonly removes: boolean;
  /** Undefined: the files are removed without asking the daemon. */
  readonly unneeded: Pick<RemoveUnneededInit, "statusSocket" | "purgeState"> | undefined;
  readonly json: boolean;
}

function readInstallOptions(args: readonly string[]): InstallOptions | "help" | { readonly wrong: string } {
  try {
    const { values } = parse(args);
    if (values.help === true) return "help";
    const { output, "one-shot": oneShot } = values;
    if (output !== "table" && output !== "json") return { wrong: `-o ${output}: must be table or json` };
    if (oneShot !== "node" && oneShot !== "off") return { wrong: `--one-shot ${oneShot}: must be node or off` };
    for (const name of ["home", "cni-bin", "root", "status-socket", "purge-state"] as const) {
      if (!isAbsolute(values[name] ?? "/")) return { wrong: `--${name} ${values[name]}: must be an absolute path` };
    }
    const isUnneeded = values["if-unneeded"] === true;
    if (isUnneeded && values.remove !== true) return { wrong: "--if-unneeded: only --remove has it" };
    const purgeState = values["purge-state"];
    if (purgeState !== undefined && !isUnneeded) return { wrong: "--purge-state: only --remove --if-unneeded has it" };
    const unneeded = isUnneeded ? { statusSocket: values["status-socket"], purgeState } : undefined;
    const init = {
      from: values.from === undefined ? dirname(realpathSync(process.argv[1] ?? "")) : resolve(values.from),
      ownNode: process.execPath,
      home: resolve(values.home),
      cniBin: resolve(values["cni-bin"]),
      root: resolve(values.root),
      oneShot,
      components: values.components,
      dryRun: values["dry-run"] === true,
    } as const;
    return { init, removes: values.remove === true, unneeded, json: output === "json" };
  } catch (error) {
    // The messages of parseArgs have several sentences; the first names the mistake.
    const [wrong = ""] = (error instanceof Error ? error.message : String(error)).split(/\n|\. /);
    return { wrong };
  }
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    options: {
      from: { type: "string" },
      home: { type: "string", default: "/opt/plexus" },
      "cni-bin": { type: "string", default: "/opt/cni/bin" },
      root: { type: "string", default: "/" },
      "one-shot": { type: "string", default: "node" },
      components: { type: "string", default: "all" },
      remove: { type: "boolean" },
      "if-unneeded": { type: "boolean" },
      "purge-state": { type: "string" },
      "status-socket": { type: "string", default: "/run/plexus/status.sock" },
      "dry-run": { type: "boolean" },
      output: { type: "string", short: "o", default: "table" },
      help: { type: "boolean" },
    },
  });
}
