// A stage with one pod for crash tests. Its chain has a killing step before, between and after the steps of the mixed chain.

import { spawn, type ChildProcess } from "node:child_process";
import { copyFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { PodNamespace } from "../../lab/namespaces.ts";
import { runtimeEnvironment, type Answer, type Call } from "../../lab/plexus.ts";
import { bridgeStep, mixedInstallation, shaperStep, tuningStep } from "../../lab/mixed-network.ts";
import { childrenOf, linksInNamespaceOf, processesNaming, programOf, signalled } from "../../lab/processes.ts";
import { killStep } from "../../lab/kill-step.ts";
import type { Requirement } from "../../lab/requires.ts";
import { openStage, type Stage } from "../../lab/stage.ts";

/** The processes that are killed. */
export type Victim = "engine" | "shim" | "both";
export const victims: readonly Victim[] = ["engine", "shim", "both"];
export type KilledVerb = "ADD" | "DEL";

/** Boundaries of the chain: before the first step, between two steps, after the last step. */
export const boundaries = [0, 1, 2, 3] as const;

/** The killing step finds the engine by /proc/PID/task/TID/children. */
export const missingChildLists: Requirement = () =>
  existsSync(`/proc/${process.pid}/task/${process.pid}/children`)
    ? undefined
    : "the kernel lists no children (CONFIG_PROC_CHILDREN)";

/** The outcome of a call that should be killed. */
export interface Shot {
  /** Whether the victim was killed before the call was answered. */
  readonly hit: boolean;
  readonly answer: Pick<Answer, "status" | "stdout" | "json">;
}

/** Descriptions of an attachment's remaining links, leases and files. */
export type Remains = readonly string[];

export class CrashSite {
  readonly stage: Stage;
  readonly #pod: PodNamespace;
  readonly #config: object;
  /** Sleeping processes in the namespaces of the node and of the pod. /proc/PID/net/dev shows the links there. */
  readonly #sleepers: readonly ChildProcess[];
  readonly #reported = new Set<string>();

  constructor() {
    this.stage = openStage({ ...mixedInstallation, serving: "one-shot", native: ["bridge", "tuning"] });
    this.#pod = this.stage.pod();
    for (const index of boundaries) copyFileSync(killStep(), this.#plugin(index));
    this.#config = this.stage.network([
      { type: "kill-0" },
      bridgeStep(),
      { type: "kill-1" },
      shaperStep,
      { type: "kill-2" },
      tuningStep(this.stage),
      { type: "kill-3" },
    ]);
    this.#sleepers = [this.stage.node, this.#pod].map((each) =>
      spawn("nsenter", [`--net=${each.path}`, "--", "sleep", "600"], { stdio: "ignore" }),
    );
  }

  call(verb: string, containerId: string): Promise<Answer> {
    return this.stage.request(this.#call(verb, containerId));
  }

  /** GC without valid attachments. */
  collect(): Promise<Answer> {
    const config = { ...this.#config, cniVersion: "1.1.0", "cni.dev/valid-attachments": [] };
    return this.stage.request({ verb: "GC", config });
  }

  /** Sends a call that is killed when its chain reaches a boundary. */
  async killAtBoundary(verb: KilledVerb, containerId: string, boundary: number, victim: Victim): Promise<Shot> {
    const order = `${this.#plugin(boundary)}.${verb}.${containerId}`;
    writeFileSync(order, victim);
    const answer = await this.call(verb, containerId);
    return { hit: answer.status !== 0 && !existsSync(order), answer };
  }

  /** Sends a call that is killed `afterMs` milliseconds after its start. */
  killAfter(verb: KilledVerb, containerId: string, afterMs: number, victim: Victim): Promise<Shot> {
    const call = this.#call(verb, containerId);
    const env = runtimeEnvironment(call, this.stage.plexus.cniPath);
    const child = spawn(this.stage.entrance(), [], { env, stdio: ["pipe", "pipe", "ignore"] });
    const out: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stdin.on("error", () => {
      // EPIPE: the shim was killed before it read all of stdin.
    });
    child.stdin.end(JSON.stringify(call.config));
    let hit = false;
    const timer = setTimeout(() => {
      hit = child.pid !== undefined && killVictim(child.pid, victim);
    }, afterMs);
    return new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, signal) => {
        clearTimeout(timer);
        const stdout = Buffer.concat(out).toString("utf8");
        const answer = { status: code ?? (signal === "SIGKILL" ? 137 : 128), stdout, json: objectIn(stdout) };
        resolve({ hit: hit && answer.status !== 0, answer });
      });
    });
  }

  /** Remains that no earlier call of this function reported. */
  remains(): Remains {
    const fresh = this.#all().filter((each) => !this.#reported.has(each));
    for (const each of fresh) this.#reported.add(each);
    return fresh;
  }

  #all(): Remains {
    const [node, pod] = this.#sleepers.map((each) => linksInNamespaceOf(each.pid ?? 0));
    const { leases, state, run } = this.stage.files();
    return [
      ...(pod ?? []).map((link) => `pod's link ${link}`),
      ...(node ?? []).filter((link) => !link.startsWith("br")).map((link) => `node's link ${link}`),
      ...leases.map((path) => `lease ${path}`),
      ...state.map((path) => `state ${path}`),
      ...run.map((path) => `run ${path}`),
    ];
  }

  /** Command lines of processes that outlived their calls. */
  processes(): readonly string[] {
    return processesNaming(this.stage.plexus.directory);
  }

  dispose(): void {
    for (const each of this.#sleepers) each.kill("SIGKILL");
    this.stage.dispose();
  }

  #plugin(boundary: number): string {
    return join(this.stage.plexus.cniPath, `kill-${boundary}`);
  }

  #call(verb: string, containerId: string): Call {
    return { verb, containerId, netns: this.#pod.path, ifname: "eth0", config: this.#config };
  }
}

/** Kills the victim. False if the shim does not run yet or the victim has ended. */
function killVictim(shim: number, victim: Victim): boolean {
  if (programOf(shim)?.endsWith("/plexus") !== true) return false;
  const engine = childrenOf(shim).find((pid) => programOf(pid)?.endsWith("/node") === true);
  if (victim === "shim") return signalled(shim, "SIGKILL");
  if (engine === undefined) return false;
  // SIGSTOP first: otherwise the shim could answer for the engine that is killed a moment earlier.
  if (victim === "both") signalled(shim, "SIGSTOP");
  const engineKilled = signalled(engine, "SIGKILL");
  return victim === "both" ? signalled(shim, "SIGKILL") && engineKilled : engineKilled;
}

function objectIn(text: string): Answer["json"] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
