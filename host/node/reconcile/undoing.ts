// When a round undoes a finding: now, after a pause, or through the shim of the runtime's next call.

import type { Verdict } from "../../../src/reconcile/judge-entry.ts";
import { Retries } from "../../../src/reconcile/retries.ts";
import type { Result } from "../../../src/fault/result.ts";
import { type LeaseOperation, runAsync } from "../../capabilities/leases/effect.ts";
import type { TakeLock } from "../../store/locks/file-lock.ts";
import type { Clock } from "../../system/clock.ts";
import type { Agent } from "../agent-call.ts";
import type { CleanTerms, Cleaner } from "./clean.ts";
import type { Finding, Handled, Handling, HandledKind } from "./finding.ts";

/** The dependencies of one round over one state directory. */
export interface RoundDeps extends Clock {
  readonly agent: Agent | undefined;
  /** True: only report. */
  readonly dryRun: boolean;
  readonly takeLock: TakeLock;
  /** Whether the round may begin another undoing. */
  readonly hasTime: () => boolean;
  /** True: try failed findings again before their pause is over, because an administrator asked and may have removed the cause. */
  readonly impatient: boolean;
  /** Called after each undoing, successful or not. */
  readonly worked: () => void;
  readonly log: (lines: string) => void;
}

const retryTerms = { firstMs: 60_000, maxMs: 3_600_000 };

/** Handlings for which no plugin ran. */
const idle: ReadonlySet<Handling> = new Set(["reported", "busy", "dry-run", "waiting"]);

/** Undoes one finding. */
type Act = (cleaner: Cleaner) => Promise<Handled>;

/** The parts of a runtime's call that undo one finding. */
export interface CallOffer extends Pick<RoundDeps, "takeLock" | "log" | "now"> {
  /** The call's shim in an agent's place. */
  readonly agent: Agent;
  /** Milliseconds that are left for the undoing. */
  readonly leftMs: () => number;
}

/** Makes a cleaner. `leftMs`: milliseconds that are left for its undoing. */
type CleanerFor = (deps: CleanTerms, leftMs: () => number) => Cleaner;

/** Undoes the findings of one state directory, and remembers between rounds which of them failed or wait. */
export class Undoing {
  /** The reason why this round's agent may change nothing; undefined without one. */
  agentProblem: string | undefined;
  readonly #cleanerFor: CleanerFor;
  readonly #retries = new Retries(retryTerms);
  /** Findings that the agent could not undo: a call of the runtime may. */
  readonly #waiting = new Map<string, { readonly kind: Finding["kind"]; readonly act: Act }>();

  constructor(cleanerFor: CleanerFor) {
    this.#cleanerFor = cleanerFor;
  }

  /** Number of findings that wait for a call of the runtime. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Undoes the finding that has waited longest through the shim of a call. Answers its kind and what was done; undefined if none waits. What was not
   * undone waits again after the next round that may try it. Throws ShimGone.
   */
  async undoWaiting({ agent, takeLock, log, now, leftMs }: CallOffer): Promise<HandledKind | undefined> {
    const [next] = this.#waiting;
    if (next === undefined) return undefined;
    const [id, { kind, act }] = next;
    this.#waiting.delete(id);
    // Held back from the next round until it is known to be done: the call may end before.
    this.#retries.failed(id, now());
    const { handling } = await act(this.#cleanerFor({ agent, takeLock, dryRun: false, log }, leftMs));
    if (handling !== "failed") this.#retries.succeeded(id);
    return { kind, handling };
  }

  /** A new round finds again what still waits. */
  forgetWaiting(): void {
    this.#waiting.clear();
  }

  /** Forgets the failures of all findings but these. */
  keep(ids: ReadonlySet<string>): void {
    this.#retries.keep(ids);
  }

  /** Runs `act` if the verdict is stale; otherwise only reports. */
  async ifStale(
    id: string,
    verdict: Verdict,
    deps: RoundDeps,
    kind: Finding["kind"],
    act: (cleaner: Cleaner, why: Extract<Verdict, { what: "stale" }>["why"]) => Promise<Handled>,
  ): Promise<Handled> {
    if (verdict.what !== "stale") return { handling: "reported" };
    return this.tryNow(id, deps, kind, (cleaner) => act(cleaner, verdict.why));
  }

  /** Runs `act` now, if an agent is connected, the round has time, and no pause after a failure is left. */
  async tryNow(id: string, deps: RoundDeps, kind: Finding["kind"], act: Act): Promise<Handled> {
    const { agent, dryRun, takeLock, log, now, hasTime, impatient } = deps;
    if (agent === undefined) return { handling: "reported", note: "no agent is connected" };
    if (this.agentProblem !== undefined) return { handling: "reported", note: this.agentProblem };
    if (!impatient && !this.#retries.isDue(id, now())) return { handling: "paused" };
    if (!hasTime()) return { handling: "postponed" };
    const handled = await act(this.#cleanerFor({ agent, takeLock, dryRun, log }, () => Infinity));
    if (!idle.has(handled.handling)) deps.worked();
    const failed = handled.handling === "failed";
    if (failed) this.#retries.failed(id, now());
    // The DEL may fail because this agent lacks a right or a plugin: the call's shim has both.
    if (handled.handling === "waiting" || (failed && !agent.runsPlugins)) this.#waiting.set(id, { kind, act });
    return handled;
  }
}

/** Frees leases that no pod has. No agent is needed: only host-local's lock. `removal` answers the number of freed leases. */
export async function freeOrphaned(
  { dryRun, takeLock, hasTime, worked }: RoundDeps,
  removal: () => LeaseOperation<Result<number>>,
): Promise<Handled> {
  if (dryRun) return { handling: "dry-run" };
  if (!hasTime()) return { handling: "postponed" };
  worked();
  const freed = await runAsync(removal(), takeLock);
  if (freed.ok) return { handling: freed.value > 0 ? "cleaned" : "busy" };
  return freed.fault.kind === "STORE_BUSY" ? { handling: "busy" } : { handling: "failed", note: freed.fault.msg };
}
