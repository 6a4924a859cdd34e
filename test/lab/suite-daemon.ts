// The confined daemon of a run: it serves the calls of all test files that choose no other engine.

import { tmpdir } from "node:os";
import { startDaemon } from "./daemon.ts";

/** The socket lies in the /run of the tests' mount namespace. */
export const suiteSocket = "/run/plexus/suite/plexus.sock";

/** The project's global set-up; returns the tear-down. No daemon starts outside private namespaces, where tests that call Plexus are skipped. */
// vitest looks for the name `setup`.
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if ((process.env["PLEXUS_PRIVATE"] ?? "") === "") return undefined;
  const daemon = await startDaemon({ socket: suiteSocket, confined: { writable: [tmpdir(), "/run", "/var/lib/cni"] } });
  return async () => {
    const status = await daemon.stop();
    if (status !== 0) throw new Error(`the run's daemon ended with ${status}: ${daemon.stderr()}`);
  };
}
