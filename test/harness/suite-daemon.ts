// The daemon that the attach suites run against a second time: confined, one for all of them.

import { tmpdir } from "node:os";
import { startDaemon } from "./daemon.ts";

/** In the /run of the tests' own mount namespace. */
export const suiteSocket = "/run/plexus/suite/plexus.sock";

/** vitest's global set-up; answers how to end it. Without private namespaces the suites are skipped, and so is this. */
// vitest looks for the name `setup`.
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if ((process.env["PLEXUS_PRIVATE"] ?? "") === "") return undefined;
  const daemon = await startDaemon({ socket: suiteSocket, confined: { writable: [tmpdir(), "/run", "/var/lib/cni"] } });
  return async () => {
    const status = await daemon.stop();
    if (status !== 0) throw new Error(`the daemon of the suites ended with ${status}: ${daemon.stderr()}`);
  };
}
