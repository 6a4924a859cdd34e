// Proves the jail of sandbox processes on this node: a probe tries from inside what an escaped guest would try, and a real sandbox process is
// started and killed.

import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { SandboxUids } from "../../../src/configuration/keys/sandbox-uids.ts";
import { type Control, controls, controlTexts } from "../../sandbox/launcher/controls.ts";
import { installedJail, type Jail, launcherArguments } from "../../sandbox/launcher/jail.ts";
import { probeCommand, type ProbeReport, runProbe, tries } from "../../sandbox/process/probe.ts";
import { defaultLimits } from "../../sandbox/limits.ts";
import { ProcessPool } from "../../sandbox/process/pool.ts";
import { SandboxProcess } from "../../sandbox/process/sandbox-process.ts";
import { systemClock } from "../../system/clock.ts";
import { type CopyProof, proveCopies } from "./prove-copies.ts";
import { type LimitProof, proveLimits } from "./prove-limits.ts";

/** One control. */
export interface ControlProof {
  readonly name: Control;
  readonly isSetUp: boolean;
  /** Whether the control is set up and each of its tries was refused. */
  readonly holds: boolean;
  /** Whether the level requires the control. */
  readonly required: boolean;
  readonly stops: string;
  readonly needs: string;
  /** The probe's tries that examine this control, each with the errno that the kernel answered; 0: the try succeeded. */
  readonly tries: Readonly<Record<string, number>>;
}

/** The proof. */
export interface SandboxProof {
  readonly level: "process" | "strict";
  /** Whether the level holds: every required control, and no control that is set up and still lets a try succeed. */
  readonly holds: boolean;
  readonly controls: readonly ControlProof[];
  /** The limits of a call, each tried by a hostile component in a sandbox process of this jail. */
  readonly limits: readonly LimitProof[];
  /** Whether a copy of a zygote has the same jail. */
  readonly copies: CopyProof;
  /** Further failures, each in one line. */
  readonly problems: readonly string[];
}

/** A file that every user may read. */
const publicFile = "/etc/passwd";
const probeBytes = 2 * 1024 ** 3;
const maxEndMs = 5000;

/**
 * Starts sandbox processes on this node, with the rights of the caller, and answers what their jail holds. `home`: the directory of the
 * installation. `ofDaemon`: controls that the running daemon reports and that only a daemon can have: its cgroups.
 */
export async function proveSandbox(
  home: string,
  level: "process" | "strict",
  uids: SandboxUids,
  ofDaemon: readonly Control[],
): Promise<SandboxProof> {
  const whole = installedJail(home, { level, uids, requiresOwnUid: true });
  const jail = { ...whole, required: whole.required.filter((name) => !ofDaemon.includes(name)) };
  const entry = realpathSync(join(home, "engine", "guest-process.cjs"));
  const command = probeCommand({ pid: process.pid, file: publicFile, bytes: 2 * probeBytes });
  const args = launcherArguments(jail, { command, readable: dirname(entry), memoryBytes: probeBytes });
  const report = await runProbe(jail.launcher, args);
  const ended = await proveProcess(jail, entry);
  const copies =
    typeof report === "string"
      ? { possible: false, reason: report, problems: [] }
      : await proveCopies({ node: process.execPath, entry, jail, command, memoryBytes: probeBytes, expected: report });
  const proofs = typeof report === "string" ? [] : controls.map((name) => proofOf(name, report, whole, ofDaemon));
  const problems = [...(typeof report === "string" ? [report] : []), ...ended, ...copies.problems];
  const limits = problems.length === 0 ? await limitsIn(jail, entry) : [];
  const holds = problems.length === 0 && proofs.every(isAcceptable) && limits.every((each) => each.holds);
  return { level, holds, controls: proofs, limits, copies, problems };
}

/** A control that is missing is no failure where the level does not require it. A control that is set up and does not hold is. */
function isAcceptable({ holds, isSetUp, required }: ControlProof): boolean {
  return holds || (!isSetUp && !required);
}

function proofOf(
  name: Control,
  { launched, errors }: ProbeReport,
  { required }: Jail,
  ofDaemon: readonly Control[],
): ControlProof {
  const own = Object.keys(tries).filter((each) => tries[each] === name);
  const answers = Object.fromEntries(own.map((each) => [each, errors.get(each) ?? 0]));
  const isSetUp = launched.controls.has(name) || ofDaemon.includes(name);
  const holds = isSetUp && Object.values(answers).every((errno) => errno !== 0);
  return { name, isSetUp, holds, required: required.includes(name), ...controlTexts[name], tries: answers };
}

/** Runs the hostile components in sandbox processes of this jail. */
async function limitsIn(jail: Jail, entry: string): Promise<readonly LimitProof[]> {
  const { memoryPages, tableEntries } = defaultLimits;
  const init = { node: process.execPath, entry, readable: dirname(entry), memoryPages, tableEntries, jail };
  const pool = new ProcessPool({ ...init, warm: 0, maxProcesses: 1 });
  try {
    return await proveLimits(pool);
  } finally {
    await pool.close();
  }
}

/** Starts a real sandbox process and kills it. Answers what failed. */
async function proveProcess(jail: Jail, entry: string): Promise<readonly string[]> {
  const { memoryPages, tableEntries } = defaultLimits;
  const init = { node: process.execPath, entry, readable: dirname(entry), memoryPages, tableEntries, jail };
  const sandbox = new SandboxProcess(init);
  const isReady = await sandbox.ready();
  const { pid } = sandbox;
  sandbox.kill("was ended by plexusctl");
  const { reason } = await sandbox.ended;
  if (!isReady) return [`a sandbox process ${reason}`];
  const path = `/proc/${pid}`;
  for (const deadline = systemClock.now() + maxEndMs; existsSync(path) && systemClock.now() < deadline;) await setTimeout(10);
  return existsSync(path) ? [`a sandbox process (pid ${pid}) has survived its end`] : [];
}
