// Proves that a sandbox process that is a copy of a zygote has the jail of one that is a new Node: the same controls, and each try of the probe refused.

import { dirname } from "node:path";
import { canBecome, type Jail } from "../../sandbox/launcher/jail.ts";
import { askArguments, serveArguments } from "../../sandbox/launcher/launch-server.ts";
import { type ProbeReport, runProbe, tries } from "../../sandbox/process/probe.ts";
import { guestProgram } from "../../sandbox/process/sandbox-process.ts";
import { zygoteCommand } from "../../sandbox/launcher/zygote-program.ts";

/** The proof of copies. */
export interface CopyProof {
  /** Whether a copy could be made on this node, with these rights. A daemon starts a new Node where it cannot. */
  readonly possible: boolean;
  /** Why no copy could be made; null if one was made. */
  readonly reason: string | null;
  /** The controls that a copy lacks of the jail of a new Node, each in one line. */
  readonly problems: readonly string[];
}

/** The settings of a proof. */
export interface ProveCopiesInit {
  readonly node: string;
  readonly entry: string;
  readonly jail: Jail;
  /** The command of the probe, and the memory of its jail. */
  readonly command: readonly string[];
  readonly memoryBytes: number;
  /** The findings of the probe in the jail of a new process. */
  readonly expected: ProbeReport;
}

/** Starts a launch server with a zygote, whose copy is the probe. */
export async function proveCopies(init: ProveCopiesInit): Promise<CopyProof> {
  const { node, entry, jail, command, memoryBytes, expected } = init;
  const { launcher, uids } = jail;
  if (uids === "same" || !canBecome(uids)) return impossible("only a launch server has a zygote, and it needs other uids");
  const program = guestProgram({ node, entry, readable: dirname(entry) });
  const zygote = zygoteCommand(launcher, uids, program, command);
  if (zygote === undefined) return impossible("the zygote's files are not installed");
  const asker = [launcher, ...askArguments({ memoryBytes, cgroup: undefined, numbers: [], isCopy: true })];
  const report = await runProbe(
    launcher,
    serveArguments(uids, program, { configuration: undefined, writable: [] }, asker, zygote),
  );
  if (typeof report === "string") return impossible(report);
  return { possible: true, reason: null, problems: weaker(expected, report) };
}

function impossible(reason: string): CopyProof {
  return { possible: false, reason, problems: [] };
}

/** The controls that a copy lacks, and the tries that only it permits. */
function weaker(expected: ProbeReport, found: ProbeReport): readonly string[] {
  const missing = [...expected.launched.controls].filter((name) => !found.launched.controls.has(name));
  const permitted = Object.keys(tries).filter((name) => expected.errors.get(name) !== 0 && found.errors.get(name) === 0);
  return [
    ...missing.map((name) => `a copy of the zygote lacks the control ${name}`),
    ...permitted.map((name) => `a copy of the zygote may do what the probe tries as ${name}`),
  ];
}
