// The daemon's part of Plexus' removal from this node: the steps that an administrator or helm requests, and the end of a removal whose asker is gone.

import type { Fault } from "../../../src/fault/fault.ts";
import type { Retirement } from "../../../src/configuration/written-configuration.ts";
import type { Clock } from "../../system/clock.ts";
import type { Standing, WrittenState } from "../cni-configuration/written-state.ts";
import { podsOfPlexus } from "./pods-of-plexus.ts";
import type { RemovalReport, RemovalStep } from "./removal-report.ts";

/** The file, and the rest of the daemon. */
export interface RemovalDeps {
  readonly writer: {
    readonly path: string;
    readonly state: WrittenState;
    take(standing: Standing, retirement?: Retirement): Promise<Fault | undefined>;
  };
  readonly stateDirectories: () => readonly string[];
  /** The number of calls that came before a time of the monotonic clock (ms) and are not answered yet. */
  readonly callsBefore: (ms: number) => number;
  /** The runtime's name and version (`containerd://2.0.0`); undefined: unknown. */
  readonly runtime: () => Promise<string | undefined>;
  readonly clock: Clock;
  readonly log: (level: "info" | "warn", text: string) => void;
  /** Milliseconds from the last request for a held removal to its end. Default: `heldMs`. */
  readonly heldMs?: number;
}

/** Default of `RemovalDeps.heldMs`: the asker repeats its request every few seconds, and its container may restart. */
const heldMs = 60_000;
/** Milliseconds after a change of the file for which a runtime may still begin an ADD with the former configuration. */
const settleMs = 5_000;

/** The removal of one daemon. */
export class Removal {
  readonly #deps: RemovalDeps;
  /** When new pods began to get the default network only, in ms of the monotonic clock. */
  #retiredAt: number | undefined;
  /** The identity of the daemon's DaemonSet; undefined until it is known. */
  #daemonSet: string | undefined;
  #holder: NodeJS.Timeout | undefined;
  #runtime: string | undefined;

  constructor(deps: RemovalDeps) {
    this.#deps = deps;
  }

  /** Continues a removal that the file says was begun. */
  start(): void {
    const { retirement } = this.#deps.writer.state;
    if (retirement === undefined) return;
    this.#retiredAt = this.#deps.clock.now();
    this.#hold(retirement.held);
  }

  /**
   * Ends the removal that was begun for another DaemonSet, or for another generation of this one: an administrator installed Plexus anew. A removal
   * without a DaemonSet becomes this one's.
   */
  async belongTo(daemonSet: string): Promise<void> {
    this.#daemonSet = daemonSet;
    const { retirement } = this.#deps.writer.state;
    const before = retirement?.daemonSet;
    if (before !== undefined && before !== daemonSet) return this.#end(`it was begun for another DaemonSet (${before})`);
    // Begun before the API had answered. With the identity in the file, a later installation ends the removal.
    if (retirement !== undefined && before === undefined) await this.#deps.writer.take("retired", { ...retirement, daemonSet });
  }

  /** Takes a step. A removed configuration stays removed until the removal is cancelled. `held`: the asker repeats the request within a minute. */
  async step(step: RemovalStep, held: boolean): Promise<RemovalReport> {
    const problem = step === "report" ? undefined : await this.#change(step, held);
    const { writer, stateDirectories, callsBefore, runtime } = this.#deps;
    // Only the removal of files needs the runtime's name, once.
    if (step === "report") this.#runtime ??= await runtime();
    const { pods, defaultOnly, problems } = podsOfPlexus(stateDirectories());
    return {
      configuration: writer.path,
      standing: writer.state.standing,
      pods,
      defaultOnly,
      calls: this.#retiredAt === undefined ? 0 : callsBefore(this.#retiredAt + settleMs),
      runtime: this.#runtime ?? null,
      problems: problem === undefined ? problems : [problem.msg, ...problems],
    };
  }

  /** Ends the timer of a held removal. */
  stop(): void {
    clearTimeout(this.#holder);
  }

  async #change(step: Exclude<RemovalStep, "report">, held: boolean): Promise<Fault | undefined> {
    const { writer } = this.#deps;
    const isWithdrawn = writer.state.standing === "withdrawn";
    const standing = step === "cancel" ? "in-force" : step === "finish" || isWithdrawn ? "withdrawn" : "retired";
    this.#retiredAt = standing === "in-force" ? undefined : (this.#retiredAt ?? this.#deps.clock.now());
    this.#hold(held && standing !== "in-force");
    const daemonSet = this.#daemonSet ?? writer.state.retirement?.daemonSet;
    return writer.take(standing, { daemonSet, held });
  }

  #hold(held: boolean): void {
    clearTimeout(this.#holder);
    if (!held) return;
    const end = (): void => void this.#end("the program that asked for it is gone");
    this.#holder = setTimeout(end, this.#deps.heldMs ?? heldMs).unref();
  }

  async #end(why: string): Promise<void> {
    const { writer, log } = this.#deps;
    log("info", `Plexus' removal from this node has ended: ${why}; new pods get their networks again`);
    this.#retiredAt = undefined;
    this.#hold(false);
    const problem = await writer.take("in-force");
    if (problem !== undefined) log("warn", problem.msg);
  }
}

/** Why Plexus' files must stay on the node; undefined if no pod needs them. */
export function whyFilesStay({ standing, pods, defaultOnly, calls, runtime, problems }: RemovalReport): string | undefined {
  if (standing !== "withdrawn") return "the network configuration is not removed";
  if (pods.length > 0) return `${pods.length} pods have networks of Plexus, such as ${pods[0]?.pod}`;
  if (problems[0] !== undefined) return problems[0];
  if (calls > 0) return `${calls} calls are being served`;
  // CRI-O sends a DEL with the configuration of the ADD; containerd sends it with the node's present one.
  if (defaultOnly === 0 || runtime?.startsWith("containerd://") === true) return undefined;
  return `${defaultOnly} pods were attached through Plexus, and ${runtime ?? "an unknown runtime"} calls the plugin of their ADD for their DEL`;
}
