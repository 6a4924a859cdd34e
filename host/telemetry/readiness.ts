// Whether the daemon could serve an ADD now: it listens, a sandbox process is there, and the journal can be written. Not whether the API
// answers: pods that need nothing of it are attached without, and no restart of ours brings it back.

import { whyUnwritable } from "../journal/can-be-written.ts";

export interface ReadinessCheck {
  readonly name: "socket" | "sandbox" | "journal";
  readonly ok: boolean;
  /** What it found, one line. */
  readonly message: string;
}

export interface Readiness {
  readonly ready: boolean;
  readonly checks: readonly ReadinessCheck[];
}

export interface ReadinessDeps {
  readonly socket: string;
  readonly listening: () => boolean;
  /** Sandbox processes that are there, and those that are being started. */
  readonly sandboxes: () => { readonly there: number; readonly starting: number };
  readonly stateDirectories: () => readonly string[];
}

export async function readiness({ socket, listening, sandboxes, stateDirectories }: ReadinessDeps): Promise<Readiness> {
  const { there, starting } = sandboxes();
  const heard = listening();
  const checks: ReadinessCheck[] = [
    { name: "socket", ok: heard, message: `${socket}: ${heard ? "listens" : "does not listen, or its file is gone"}` },
    { name: "sandbox", ok: there > 0, message: `${there} sandbox processes are there, ${starting} are being started` },
    ...(await Promise.all(stateDirectories().map(journalCheck))),
  ];
  return { ready: checks.every(({ ok }) => ok), checks };
}

async function journalCheck(directory: string): Promise<ReadinessCheck> {
  const problem = await whyUnwritable(directory);
  return { name: "journal", ok: problem === undefined, message: `${directory}: ${problem ?? "can be written"}` };
}
