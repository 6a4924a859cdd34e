// `plexus hands` for tests, started as an administrator starts it.

import { spawn } from "node:child_process";
import { once } from "node:events";

export interface ResidentHandsOptions {
  /** The executable, or a program that becomes it. */
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface TestResidentHands {
  readonly pid: number;
  /** What they said so far. */
  stderr(): string;
  signal(name: NodeJS.Signals): void;
  /** Their exit status when they have ended, or the name of the signal that ended them. */
  readonly ended: Promise<number | string | null>;
  /** SIGTERM, and waits for their end. */
  stop(): Promise<number | string | null>;
}

export function startResidentHands({ command, env }: ResidentHandsOptions): TestResidentHands {
  const child = spawn(command, ["hands"], { stdio: ["ignore", "ignore", "pipe"], env });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const ended = once(child, "exit").then(([status, signal]): number | string | null => signal ?? status);
  return {
    pid: child.pid ?? 0,
    stderr: () => said,
    signal: (name) => void child.kill(name),
    ended,
    stop() {
      child.kill("SIGTERM");
      return ended;
    },
  };
}
