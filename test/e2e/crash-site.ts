// Where calls are killed: one stage with one pod, the mixed chain with a killing step at every boundary, and what is left.

import { spawn, type ChildProcess } from "node:child_process";
import { copyFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { PodNamespace } from "../harness/namespaces.ts";
import { runtimeEnvironment, type Answer, type Call } from "../harness/plexus.ts";
import { bridgeStep, mixedInstallation, shaperStep, tuningStep } from "./mixed-network.ts";
import { childrenOf, linksSeenBy, processesNaming, programOf, signalled } from "./processes.ts";
import { killStep } from "./kill-step.ts";
import { openStage, type Stage } from "./stage.ts";

/** Who is killed. */
export type Victim = "brain" | "hands" | "both";
export const victims: readonly Victim[] = ["brain", "hands", "both"];
export type KilledVerb = "ADD" | "DEL";

/** Boundaries of the chain: before its first step, between two, after its last. */
export const boundaries = [0, 1, 2, 3] as const;

/** What came of a call at which SIGKILL was aimed. */
export interface Shot {
  /** True: whom it was aimed at died of it, before the call was answered. */
  readonly hit: boolean;
  readonly answer: Pick<Answer, "status" | "stdout" | "json">;
}

/** Everything of one attachment that is still there. */
export type Remains = readonly string[];

export class CrashSite {
  readonly stage: Stage;
  readonly #pod: PodNamespace;
  readonly #config: object;
  /** Processes that do nothing but show the links of the node and of the pod. */
  readonly #lookouts: readonly ChildProcess[];
  readonly #seen = new Set<string>();

  constructor() {
    this.stage = openStage({ ...mixedInstallation, native: ["bridge", "tuning"] });
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
    this.#lookouts = [this.stage.node, this.#pod].map((each) =>
      spawn("nsenter", [`--net=${each.path}`, "--", "sleep", "600"], { stdio: "ignore" }),
    );
  }

  call(verb: string, containerId: string): Promise<Answer> {
    return this.stage.request(this.#call(verb, containerId));
  }

  /** GC that counts no attachment as valid. */
  collect(): Promise<Answer> {
    const config = { ...this.#config, cniVersion: "1.1.0", "cni.dev/valid-attachments": [] };
    return this.stage.request({ verb: "GC", config });
  }

  /** A call that is killed when its chain comes to a boundary. */
  async killAtBoundary(verb: KilledVerb, containerId: string, boundary: number, victim: Victim): Promise<Shot> {
    const order = `${this.#plugin(boundary)}.${verb}.${containerId}`;
    writeFileSync(order, victim);
    const answer = await this.call(verb, containerId);
    return { hit: answer.status !== 0 && !existsSync(order), answer };
  }

  /** A call that is killed `afterMs` milliseconds after its start. */
  killAfter(verb: KilledVerb, containerId: string, afterMs: number, victim: Victim): Promise<Shot> {
    const call = this.#call(verb, containerId);
    const env = runtimeEnvironment(call, this.stage.plexus.cniPath);
    const child = spawn(this.stage.entrance(), [], { env, stdio: ["pipe", "pipe", "ignore"] });
    const out: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stdin.on("error", () => {
      // It was killed before it read all.
    });
    child.stdin.end(JSON.stringify(call.config));
    let hit = false;
    const timer = setTimeout(() => {
      hit = child.pid !== undefined && aim(child.pid, victim);
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

  /** Everything that is left where nothing should be, and was not left before. */
  remains(): Remains {
    const fresh = this.#all().filter((each) => !this.#seen.has(each));
    for (const each of fresh) this.#seen.add(each);
    return fresh;
  }

  #all(): Remains {
    const [node, pod] = this.#lookouts.map((each) => linksSeenBy(each.pid ?? 0));
    const { leases, state, run } = this.stage.files();
    return [
      ...(pod ?? []).map((link) => `pod's link ${link}`),
      ...(node ?? []).filter((link) => !link.startsWith("br")).map((link) => `node's link ${link}`),
      ...leases.map((path) => `lease ${path}`),
      ...state.map((path) => `state ${path}`),
      ...run.map((path) => `run ${path}`),
    ];
  }

  /** Processes that outlived their calls. */
  processes(): readonly string[] {
    return processesNaming(this.stage.plexus.directory);
  }

  dispose(): void {
    for (const each of this.#lookouts) each.kill("SIGKILL");
    this.stage.dispose();
  }

  #plugin(boundary: number): string {
    return join(this.stage.plexus.cniPath, `kill-${boundary}`);
  }

  #call(verb: string, containerId: string): Call {
    return { verb, containerId, netns: this.#pod.path, ifname: "eth0", config: this.#config };
  }
}

/** Kills; false where the hands don't run yet, or whom it is aimed at has ended. */
function aim(hands: number, victim: Victim): boolean {
  if (programOf(hands)?.endsWith("/plexus") !== true) return false;
  const brain = childrenOf(hands).find((pid) => programOf(pid)?.endsWith("/node") === true);
  if (victim === "hands") return signalled(hands, "SIGKILL");
  if (brain === undefined) return false;
  // Stopped first, so that the hands can't answer for the brain that is killed a moment before them.
  if (victim === "both") signalled(hands, "SIGSTOP");
  const first = signalled(brain, "SIGKILL");
  return victim === "both" ? signalled(hands, "SIGKILL") && first : first;
}

function objectIn(text: string): Answer["json"] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
