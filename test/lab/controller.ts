// plexus-controller for tests, started as its Deployment starts it.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { dist } from "./plexus.ts";

/** One replica. */
export interface TestController {
  readonly identity: string;
  readonly pid: number;
  /** The log so far. */
  stderr(): string;
  /** Whether the replica leads, by its metrics. */
  leads(): Promise<boolean>;
  /** A page of the replica. */
  page(path: string): Promise<{ readonly status: number; readonly body: string }>;
  /** Kills the replica without giving it time to end. */
  kill(): Promise<void>;
  /** Sends SIGTERM and waits for the end; answers the exit status. */
  stop(): Promise<number | null>;
}

export interface ControllerInit {
  readonly identity: string;
  readonly kubeconfig: string;
  /**
   * Default: 60, so that a busy leader does not miss its renewals. A replica that follows a killed one has a Lease of another name (`--lease-name`),
   * or waits as long.
   */
  readonly leaseSeconds?: number;
  /** Further arguments. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Further arguments of Node, before the program. */
  readonly nodeArgs?: readonly string[];
}

/** Starts a replica. Resolves when it serves its pages; rejects with its log if it ends first. */
export async function startController({
  identity,
  kubeconfig,
  leaseSeconds = 60,
  args = [],
  env = {},
  nodeArgs = [],
}: ControllerInit): Promise<TestController> {
  const child: ChildProcess = spawn(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      "--max-semi-space-size=4",
      ...nodeArgs,
      join(dist, "plexus-controller.cjs"),
      "--identity",
      identity,
      "--kubeconfig",
      kubeconfig,
      "--lease-seconds",
      String(leaseSeconds),
      "--metrics-listen",
      "127.0.0.1:0",
      ...args,
    ],
    { stdio: ["ignore", "ignore", "pipe"], env: { ...env } },
  );
  let stderr = "";
  const listening = Promise.withResolvers<string>();
  child.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString("utf8");
    const address = /serves metrics on ([\d.]+:\d+)/.exec(stderr)?.[1];
    if (address !== undefined) listening.resolve(address);
  });
  const ended = once(child, "exit");
  void ended.then(() => listening.reject(new Error(`plexus-controller ended: ${stderr}`)));
  const address = await listening.promise;
  const page = async (path: string): Promise<{ readonly status: number; readonly body: string }> => {
    const answer = await fetch(`http://${address}${path}`).catch((cause: unknown) => {
      if (child.exitCode === null && child.signalCode === null) throw cause;
      throw new Error(`plexus-controller ended with ${child.exitCode ?? child.signalCode}: ${stderr}`, { cause });
    });
    return { status: answer.status, body: await answer.text() };
  };
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await ended;
    return child.exitCode;
  };
  return {
    identity,
    pid: child.pid ?? 0,
    stderr: () => stderr,
    page,
    leads: async () => /^plexus_controller_leader 1$/m.test((await page("/metrics")).body),
    kill: async () => void (await end("SIGKILL")),
    stop: () => end("SIGTERM"),
  };
}
