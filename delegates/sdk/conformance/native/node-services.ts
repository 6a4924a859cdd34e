// Programs that a native plugin needs while it works, such as its own daemon. They run on the node of one check, and end with it.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Skip } from "../check.ts";
import type { Setup } from "../setup.ts";
import { programPath } from "./program-path.ts";
import { signalGroup } from "./run-program.ts";

/** Milliseconds until a service without its file counts as failed. */
const readyLimitMs = 10_000;
const pollMs = 5;
/** Greatest length of a service's stderr in a message. */
const maxText = 300;

/** The surroundings of the services. */
export interface NodeServicesInit {
  readonly services: Setup["services"];
  /** The plugin's file, for `$PLUGIN`. */
  readonly plugin: string;
  /** The directory for `$RUN`. */
  readonly runDirectory: string;
  /** Path of the node's network namespace. */
  readonly netns: string;
}

/** The running services of one node. */
export class NodeServices {
  readonly #children: ChildProcess[] = [];

  /** Starts each service when the one before it is ready. Throws a Skip with the service's stderr if one ends or is not ready. */
  async start({ services, plugin, runDirectory, netns }: NodeServicesInit): Promise<void> {
    const env = { PATH: programPath(), PLUGIN: plugin, RUN: runDirectory };
    for (const { command, ready } of services) {
      // The death of this process ends a service too: nothing outlives an interrupted run.
      const args = [`--net=${netns}`, "--", "setpriv", "--pdeathsig", "KILL", "--", "sh", "-ec", command];
      const child = spawn("nsenter", args, { env, detached: true, stdio: ["ignore", "ignore", "pipe"] });
      this.#children.push(child);
      let stderr = "";
      child.stderr.on("data", (chunk: Buffer) => {
        stderr = `${stderr}${chunk.toString()}`.slice(-maxText);
      });
      child.once("error", ({ message }) => {
        stderr = message;
      });
      const file = ready.replaceAll("$RUN", runDirectory);
      const started = performance.now();
      while (!existsSync(file)) {
        if (hasEnded(child)) throw new Skip(refusal(command, "ended", stderr));
        if (performance.now() - started > readyLimitMs) throw new Skip(refusal(command, `has not made ${ready}`, stderr));
        await sleep(pollMs);
      }
    }
  }

  /** Ends the services with the programs that they started. */
  async stop(): Promise<void> {
    for (const child of this.#children.toReversed()) {
      const closed = new Promise<void>((done) => (hasEnded(child) ? done() : child.once("exit", () => done())));
      signalGroup(child.pid, "KILL");
      await closed;
    }
  }
}

/** True also for a program that could not be started. */
function hasEnded({ exitCode, signalCode, pid }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null || pid === undefined;
}

function refusal(command: string, what: string, stderr: string): string {
  return `services: "${command}" ${what}: ${stderr.trim() === "" ? "it printed no error" : stderr.trim()}`;
}
