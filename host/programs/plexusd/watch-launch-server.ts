// The daemon cannot replace its launch server, which has rights that the daemon has given up. So the daemon ends after its launch server, and the supervisor starts both anew.

import { readFileSync } from "node:fs";
import type { LaunchServer } from "../../sandbox/launcher/jail.ts";

/** Milliseconds between two looks. */
const intervalMs = 1_000;

/** Calls `onEnd` once after the launch server has ended. */
export function watchLaunchServer({ pid }: LaunchServer, onEnd: () => void): void {
  const timer = setInterval(() => {
    if (!hasEnded(pid)) return;
    clearInterval(timer);
    onEnd();
  }, intervalMs).unref();
}

/** The process is this one's child, which only a wait(2) could remove: its pid is not used again. */
function hasEnded(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return true;
  }
}
