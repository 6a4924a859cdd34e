// plexusctl doctor --prove-sandbox: what the jail of sandbox processes holds on this node.

import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { type CommandLineMistake, valueOf } from "../../../src/command-line/read-command-line.ts";
import { readUidOption, uidOptionForm } from "../../../src/configuration/uid-option.ts";
import { defaultUids, type SandboxUids } from "../../../src/configuration/keys/sandbox-uids.ts";
import type { CopyProof } from "../../node/prove-sandbox/prove-copies.ts";
import type { LimitProof } from "../../node/prove-sandbox/prove-limits.ts";
import type { SandboxProof } from "../../node/prove-sandbox/prove-sandbox.ts";
import { proveSandbox } from "../../node/prove-sandbox/prove-sandbox.ts";
import type { CommandResult, Invocation } from "../../node/command-line/command.ts";
import { notAbsolute, onlyWith, stateDirOf, statusSocketOf } from "../../node/command-line/common-options.ts";
import { printed } from "../../node/command-line/printed.ts";
import { readStatus } from "./read-status.ts";
import { table, wrap } from "../../node/command-line/table.ts";

/** The proof, and what a running daemon reports. */
export interface Diagnosis extends SandboxProof {
  /** The level of the running daemon and the controls that its sandbox processes lack; null if no daemon answers. */
  readonly daemon: { readonly level: string; readonly missing: readonly string[]; readonly ready: boolean } | null;
}

/** The options that a diagnosis needs. */
export interface DiagnoseOptions {
  readonly statusSocket: string;
  readonly stateDir: string;
  /** The level to prove; undefined: the daemon's. */
  readonly isolation: "process" | "strict" | undefined;
  readonly sandboxUids: SandboxUids;
}

/** Runs `plexusctl doctor`. */
export async function doctorCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const wrong = notAbsolute(line, "status-socket", "state-dir");
  if (wrong !== undefined) return wrong;
  if (!line.flags.has("prove-sandbox")) {
    const { checkNodeCommand } = await import("./check-node.ts");
    return onlyWith(line, "--prove-sandbox", "isolation", "sandbox-uids") ?? checkNodeCommand(line);
  }
  const isolation = (["process", "strict"] as const).find((level) => level === valueOf(line, "isolation"));
  const uids = valueOf(line, "sandbox-uids");
  const sandboxUids = uids === undefined ? defaultUids : readUidOption(uids);
  if (sandboxUids === undefined) return { wrong: `--sandbox-uids ${uids}: must be ${uidOptionForm}` };
  const diagnosis = await diagnose({ statusSocket: statusSocketOf(line), stateDir: stateDirOf(line), isolation, sandboxUids });
  const text = (width: number): string => diagnosisText(diagnosis, width);
  const names = (): readonly string[] => diagnosis.controls.map(({ name }) => name);
  return {
    stdout: await printed({ value: diagnosis, text, names }, line),
    status: diagnosisNeedsAttention(diagnosis) ? 1 : 0,
  };
}

/** Proves the level of `--isolation`; by default the level of the running daemon, or `process`. */
export async function diagnose(options: DiagnoseOptions): Promise<Diagnosis> {
  const { document } = await readStatus(options.statusSocket, options.stateDir);
  const isolation = document.daemon?.isolation;
  const daemon =
    isolation === undefined
      ? null
      : { level: isolation.level, missing: isolation.missing, ready: document.daemon?.ready === true };
  const level = options.isolation ?? isolation?.level ?? "process";
  const home = dirname(realpathSync(process.argv[1] ?? ""));
  // A command has no cgroup that it may divide, so a daemon's word counts for it.
  const ofDaemon = isolation !== undefined && !isolation.missing.includes("cgroup") ? (["cgroup"] as const) : [];
  return { ...(await proveSandbox(home, level, options.sandboxUids, ofDaemon)), daemon };
}

/** Whether an administrator has to act. */
function diagnosisNeedsAttention({ holds, daemon }: Diagnosis): boolean {
  return !holds || daemon?.ready === false;
}

/** The diagnosis as a table: a control that holds, is missing, or is required and missing. */
function diagnosisText({ level, holds, controls, limits, copies, problems, daemon }: Diagnosis, width: number): string {
  const rows = controls.map(({ name, holds: isHeld, required, stops, tries }) => {
    const all = Object.values(tries);
    const refused = all.filter((errno) => errno !== 0).length;
    return [isHeld ? "ok" : required ? "NO" : "missing", name, all.length === 0 ? "" : `${refused}/${all.length}`, stops];
  });
  const needs = controls.filter((each) => !each.holds).map(({ name, needs: needed }) => `${name} needs ${needed}.`);
  const daemonLine =
    daemon === null
      ? "No daemon answers: this is what a sandbox process of this command holds."
      : `The daemon runs level ${daemon.level}; its sandbox processes lack: ${daemon.missing.join(", ") || "nothing"}.`;
  const lines = [
    `Level ${level}: ${holds ? "holds" : "DOES NOT HOLD"}`,
    ...(rows.length === 0
      ? []
      : table([{ title: "" }, { title: "CONTROL" }, { title: "REFUSED", align: "right" }, { title: "STOPS" }], rows, width)),
    ...(limits.length === 0 ? [] : limitLines(limits, width)),
    ...problems.flatMap((problem) => wrap(problem, width)),
    ...needs.flatMap((line) => wrap(line, width)),
    ...wrap(copiesText(copies), width),
    ...wrap(daemonLine, width),
  ];
  return `${lines.join("\n")}\n`;
}

function copiesText({ possible, reason, problems }: CopyProof): string {
  if (!possible) return `No copy of a zygote could be made: ${reason}. A daemon starts a new Node for each sandbox process then.`;
  return problems.length > 0
    ? "A copy of the zygote has a weaker jail."
    : "A copy of the zygote has the same controls, and refuses the same tries.";
}

function limitLines(limits: readonly LimitProof[], width: number): readonly string[] {
  const rows = limits.map(({ name, holds, ended, tries }) => [holds ? "ok" : "NO", name, ended, tries]);
  return table([{ title: "" }, { title: "LIMIT" }, { title: "ENDED" }, { title: "A COMPONENT" }], rows, width);
}
