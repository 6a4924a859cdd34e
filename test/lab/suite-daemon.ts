// The confined daemon of a Vitest project: it serves the calls of all test files that choose no other engine.

import { tmpdir } from "node:os";
import type { TestProject } from "vitest/node";
import { startDaemon } from "./daemon.ts";

/** The socket of a project's daemon. It lies in the /run of the tests' mount namespace. */
export function suiteSocket(project: string): string {
  return `/run/plexus/suite-${project}/plexus.sock`;
}

/** The project's global set-up; returns the tear-down. No daemon starts outside private namespaces, where tests that call Plexus are skipped. */
// vitest looks for the name `setup`.
export async function setup({ name }: Pick<TestProject, "name">): Promise<(() => Promise<void>) | undefined> {
  if ((process.env["PLEXUS_PRIVATE"] ?? "") === "") return undefined;
  const daemon = await startDaemon({ socket: suiteSocket(name), confined: { writable: [tmpdir(), "/run", "/var/lib/cni"] } });
  return async () => {
    const status = await daemon.stop();
    if (status !== 0) throw new Error(`the run's daemon ended with ${status}: ${daemon.stderr()}`);
  };
}
