// Servers as children of a test. They end with the test, even after SIGKILL.

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";

/** Starts a program whose output is appended to `log`. `setpriv` makes the kernel kill the child when this process ends. */
export function startChild(file: string, args: readonly string[], log: string): ChildProcess {
  const output = openSync(log, "a");
  // Servers in Go collect garbage less often: a start takes a tenth less CPU time, for more memory.
  const env = { GOGC: "400", ...process.env };
  const child = spawn("setpriv", ["--pdeathsig", "KILL", "--", file, ...args], { stdio: ["ignore", output, output], env });
  child.on("error", () => {
    // A wait for the server reports a program that could not be started.
  });
  closeSync(output);
  return child;
}

/** Whether the child has ended. */
export function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
}

/** Kills the child and waits for its end. */
export async function endChild(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}

/** The last lines of a log. */
export function lastLines(path: string, count = 15): string {
  return readFileSync(path, "utf8").split("\n").slice(-count).join("\n");
}

/** Ports of one vitest worker. Workers have different ranges, so that none takes a port that another one has found free but not bound yet. */
const portsOfWorker = 1_000;

/**
 * Free ports below the kernel's range of ephemeral ports, so that no connection takes one while its server is stopped. All of them are held
 * until the last one is found, so that no two are equal.
 */
export async function freePorts(count: number): Promise<readonly number[]> {
  const first = 20_000 + portsOfWorker * (Number(process.env["VITEST_POOL_ID"] ?? 0) % 10);
  const held = new Map<number, Server>();
  while (held.size < count) {
    const port = first + Math.floor(Math.random() * portsOfWorker);
    const probe = createServer();
    const free = await new Promise<boolean>((resolve) => {
      probe.once("error", () => resolve(false));
      probe.listen(port, "0.0.0.0", () => resolve(true));
    });
    if (free) held.set(port, probe);
  }
  await Promise.all([...held.values()].map((probe) => new Promise((resolve) => probe.close(resolve))));
  return [...held.keys()];
}
