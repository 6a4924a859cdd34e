// Whether the daemon can serve an ADD now: it listens, a sandbox process runs, and the journal can be written. The Kubernetes API is no part
// of readiness: many pods do not need it, and a restart of the daemon does not repair it.

import { whyUnwritable } from "../store/journal/can-be-written.ts";
import type { Readiness, CheckResult, ReadinessCheck } from "./status-document.ts";

/** The parts of the daemon that are checked. */
export interface ReadinessDeps {
  readonly socket: string;
  readonly listening: () => boolean;
  /** The number of running sandbox processes, of those that are starting, and why the last start failed. */
  readonly sandboxes: () => { readonly running: number; readonly starting: number; readonly problem: string | undefined };
  readonly stateDirectories: () => readonly string[];
  /** The check of the network configuration that the daemon writes; undefined if the daemon writes none. */
  readonly configuration: () => CheckResult | undefined;
}

/** Runs the checks. */
export async function readiness({
  socket,
  listening,
  sandboxes,
  stateDirectories,
  configuration,
}: ReadinessDeps): Promise<Readiness> {
  const { running, starting, problem } = sandboxes();
  const failed = problem === undefined ? "" : `; the last one that was started ${problem}`;
  const isListening = listening();
  const written = configuration();
  const checks: ReadinessCheck[] = [
    {
      name: "socket",
      ok: isListening,
      message: `${socket}: ${isListening ? "listens" : "does not listen, or its file is gone"}`,
    },
    { name: "sandbox", ok: running > 0, message: `${running} sandbox processes are running, ${starting} are starting${failed}` },
    ...(await Promise.all(stateDirectories().map(journalCheck))),
    ...(written === undefined ? [] : [{ name: "configuration" as const, ...written }]),
  ];
  return { ready: checks.every(({ ok }) => ok), checks };
}

async function journalCheck(directory: string): Promise<ReadinessCheck> {
  const problem = await whyUnwritable(directory);
  return { name: "journal", ok: problem === undefined, message: `${directory}: ${problem ?? "is writable"}` };
}
