// Whether the daemon could serve an ADD now: it listens, a sandbox process is there, and the journal can be written. Not whether the API
// answers: pods that need nothing of it are attached without, and no restart of ours brings it back.

import { constants } from "node:fs";
import { access, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { getSystemErrorName } from "node:util";

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

/** Bytes below which a file system counts as full: no journal entry of a pod with many networks would fit. */
const leastFree = 1024 * 1024;

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
  const problem = await problemOf(directory);
  return { name: "journal", ok: problem === undefined, message: `${directory}: ${problem ?? "can be written"}` };
}

/** Of the directory, or of the nearest one above it that is there: it is made with the first call. */
async function problemOf(directory: string): Promise<string | undefined> {
  for (let path = directory; ; path = dirname(path)) {
    try {
      await access(path, constants.W_OK | constants.X_OK);
      const { bavail, bsize } = await statfs(path);
      return bavail * bsize < leastFree ? `its file system has ${bavail * bsize} bytes left` : undefined;
    } catch (error) {
      const errno = error instanceof Error && "errno" in error && typeof error.errno === "number" ? error.errno : 0;
      const name = errno === 0 ? String(error) : getSystemErrorName(errno);
      if (name !== "ENOENT" || path === dirname(path)) return `${path} can't be written: ${name}`;
    }
  }
}
