// `plexus agent` for tests, started as an administrator starts it.

import { spawn } from "node:child_process";
import { once } from "node:events";

export interface AgentOptions {
  /** The shim's path, or a program that executes the shim in its place. */
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
  /** Options of `plexus agent`. */
  readonly options?: readonly string[];
}

export interface TestAgent {
  readonly pid: number;
  /** The agent's stderr so far. */
  stderr(): string;
  signal(name: NodeJS.Signals): void;
  /** Resolves at the end of the process with its exit status, or with the name of the signal that ended it. */
  readonly ended: Promise<number | string | null>;
  /** Sends SIGTERM and waits for the end of the process. */
  stop(): Promise<number | string | null>;
}

export function startAgent({ command, env, options = [] }: AgentOptions): TestAgent {
  const child = spawn(command, ["agent", ...options], { stdio: ["ignore", "ignore", "pipe"], env });
  let stderrText = "";
  child.stderr.on("data", (chunk: Buffer) => (stderrText += chunk.toString()));
  const ended = once(child, "exit").then(([status, signal]): number | string | null => signal ?? status);
  return {
    pid: child.pid ?? 0,
    stderr: () => stderrText,
    signal: (name) => void child.kill(name),
    ended,
    stop() {
      child.kill("SIGTERM");
      return ended;
    },
  };
}
