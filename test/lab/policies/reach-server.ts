// The server and client of one pod of a scenario: reach.mjs in the pod's network namespace.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

const program = join(import.meta.dirname, "reach.mjs");

/** A pod's server and client. */
export interface ReachServer {
  /** Forgets the packets that passed the pod's policies. */
  reset(): Promise<void>;
  /** The packets of new connections that passed the pod's policies since the reset, as nft(8) prints them. */
  passed(): Promise<string>;
  /** Tries these targets, `PROTOCOL/ADDRESS/PORT`, at once. Answers those that answered; ends a moment after `count` of them did. */
  ask(targets: readonly string[], count: number): Promise<readonly string[]>;
  stop(): void;
}

/** Starts the program in the network namespace at this path. It ends with the test, even after SIGKILL. Resolves when it listens. */
export async function startReachServer(netns: string): Promise<ReachServer> {
  const args = ["--pdeathsig", "KILL", "--", "nsenter", `--net=${netns}`, "--", process.execPath, program];
  const child = spawn("setpriv", args, { stdio: ["pipe", "pipe", "pipe"] });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString("utf8");
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error(`reach.mjs in ${netns} ended: ${errors}`);
    return value;
  };
  await next();
  const call = async (request: object): Promise<unknown> => {
    child.stdin.write(`${JSON.stringify(request)}\n`);
    return JSON.parse(await next());
  };
  return {
    reset: async () => void (await call({ reset: true })),
    passed: async () => String(await call({ passed: true })),
    async ask(targets, count) {
      const answer = await call({ targets, count });
      return Array.isArray(answer) ? answer.map(String) : [];
    },
    stop: () => child.kill("SIGKILL"),
  };
}
