// Removes stale attachments and leases at the daemon's start and at an interval (RT-02, RT-10, FI-22). A reboot, a killed runtime or a lost
// DEL leaves attachments and addresses behind, and no runtime calls GC.

import { setTimeout } from "node:timers/promises";
import { resolve } from "node:path";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import type { TakeLock } from "../../store/locks/file-lock.ts";
import type { Clock } from "../../system/clock.ts";
import { ShimGone } from "../../protocol/shim.ts";
import { CallConfigurations } from "./call-configurations.ts";
import type { Agent } from "../agent-call.ts";
import type { Finding, RoundReport, HandledKind } from "./finding.ts";
import { RoundLog, roundSentence, stackOf } from "./round-log.ts";
import { ServedNamespaces } from "./served-namespaces.ts";
import { StateRounds } from "./state-round.ts";

/** The reconciler's settings. */
export interface RoundSettings {
  /** Least time for which a network namespace must be gone before its attachment is stale, in ms. */
  readonly graceMs: number;
  /** True: rounds only report. */
  readonly dryRun: boolean;
  /** The state directories (`cniDir`) to reconcile. */
  readonly directories: readonly string[];
  /** Milliseconds from the end of a round to the next; 0: rounds run only on request. */
  readonly intervalMs: number;
}

/** The parts of the daemon that the reconciler uses. */
export interface ReconcilerDeps {
  /** The agent that is connected now. */
  readonly agent: () => Agent | undefined;
  readonly takeLock: TakeLock;
  readonly clock: Clock;
  /** Whether calls of the runtime wait in the queue. A round then begins nothing more. */
  readonly isBusy: () => boolean;
  /** Writes a line to the daemon's log. */
  readonly warn: (text: string) => void;
  /** Receives the report of each round. */
  readonly onRound?: (report: RoundReport) => void;
  /** Receives what a call of the runtime undid. */
  readonly onUndone?: (finding: HandledKind) => void;
}

/** After this time a round leaves the remaining findings to the next round, in ms. A step that has begun runs to its end. */
const roundMs = 30_000;
/** Maximum time by which undoing a waiting attachment may delay a call of the runtime, in ms. */
const withinCallMs = 2000;
/** Minimum time for it, in ms: a native plugin takes some 10 ms, and iptables waits for its lock. */
const minWithinCallMs = 500;
/** Calls within which a waiting finding may be undone. A STATUS asks for an answer at once. */
const undoingVerbs: ReadonlySet<string | undefined> = new Set(["ADD", "DEL", "GC"]);
/** Maximum undoings of one round. Findings that are only reported do not count, so they cannot starve the others. */
const maxWork = 256;
/** The reconciler of one daemon. */
export class Reconciler {
  readonly #settings: RoundSettings;
  readonly #deps: ReconcilerDeps;
  readonly #states: ReadonlyMap<string, StateRounds>;
  readonly #configurations: CallConfigurations;
  readonly #log: RoundLog;
  readonly #served = new ServedNamespaces();
  readonly #stopped = new AbortController();
  #underWay: { readonly dryRun: boolean; readonly impatient: boolean; readonly report: Promise<RoundReport> } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #undoing = false;
  #last: RoundReport | undefined;
  #waiting = 0;

  constructor(settings: RoundSettings, deps: ReconcilerDeps) {
    this.#settings = settings;
    this.#deps = deps;
    this.#log = new RoundLog(deps.warn);
    this.#states = new Map(
      settings.directories.map(
        (directory) => [resolve(directory), new StateRounds(resolve(directory), settings.graceMs, this.#served)] as const,
      ),
    );
    this.#configurations = new CallConfigurations(
      (directory) => this.#states.get(directory)?.configurations,
      (text) => this.#log.warn(text),
    );
  }

  /** The report of the last round; undefined before the first round has ended. */
  get last(): RoundReport | undefined {
    return this.#last;
  }

  /** The last round in one line, for the status. */
  get sentence(): string {
    return this.#last === undefined ? "no round yet" : roundSentence(this.#last, this.waiting);
  }

  /** Number of findings that wait for a call of the runtime, because the agent runs no native plugins. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Undoes at most one waiting finding through the shim of a call that the runtime made. Takes at most 2 s, and half of `leftMs`, the call's own
   * time. Several calls at once undo one after the other. Never fails.
   */
  async undoWaiting(agent: Agent, leftMs: number): Promise<void> {
    const ms = Math.min(withinCallMs, leftMs / 2);
    const state = [...this.#states.values()].find(({ waiting }) => waiting > 0);
    if (!undoingVerbs.has(agent.environment.get("CNI_COMMAND"))) return;
    if (state === undefined || this.#undoing || ms < minWithinCallMs || this.#deps.isBusy() || this.#stopped.signal.aborted)
      return;
    this.#undoing = true;
    const { takeLock, clock } = this.#deps;
    const due = clock.now() + ms;
    const undoing = state
      .undoWaiting({
        agent,
        takeLock,
        log: (lines) => this.#log.lines(lines),
        now: clock.now,
        leftMs: () => Math.max(0, due - clock.now()),
      })
      .then((undone) => undone && this.#deps.onUndone?.(undone))
      .catch((error: unknown) => {
        // The call has ended, and its shim with it: a later call tries again.
        if (!(error instanceof ShimGone)) this.#log.error(error);
      })
      .finally(() => {
        this.#undoing = false;
        this.#countWaiting();
      });
    const late = new AbortController();
    const timeout = setTimeout(ms, undefined, { signal: late.signal }).catch(() => undefined);
    await Promise.race([undoing, timeout]);
    late.abort();
  }

  /** Begins a round now, and further rounds at the interval. Call it at the start, and when an agent connects. */
  wake(): void {
    if (this.#settings.intervalMs > 0 && !this.#stopped.signal.aborted) this.#begin();
  }

  /** Begins nothing more, and waits for the round that is under way, at most `maxMs`. */
  async stop(maxMs: number): Promise<void> {
    this.#stopped.abort();
    clearTimeout(this.#timer);
    this.#configurations.end();
    if (this.#underWay === undefined) return;
    const late = new AbortController();
    const timeout = setTimeout(maxMs, undefined, { signal: late.signal }).catch(() => undefined);
    await Promise.race([this.#underWay.report.catch(() => undefined), timeout]);
    late.abort();
  }

  /**
   * Runs a round. Rounds never overlap: a round of the same kind that is under way is shared. `dryRun`: only report. `impatient`: try failed
   * findings again now, although their pause is not over.
   */
  async round(dryRun = false, impatient = false): Promise<RoundReport> {
    const only = dryRun || this.#settings.dryRun;
    const serves = (under: { readonly dryRun: boolean; readonly impatient: boolean }): boolean =>
      under.dryRun === only && (under.impatient || !impatient);
    while (this.#underWay !== undefined && !serves(this.#underWay)) await this.#underWay.report;
    this.#underWay ??= {
      dryRun: only,
      impatient,
      report: this.#round(only, impatient).finally(() => {
        this.#underWay = undefined;
        this.#planNext();
      }),
    };
    return this.#underWay.report;
  }

  /** Notes the network namespace of an ADD that is served now: the agent looks at it. Never fails. */
  noteServed(environment: ReadonlyMap<string, string>): void {
    const agent = environment.get("CNI_COMMAND") === "ADD" ? this.#deps.agent() : undefined;
    const path = environment.get("CNI_NETNS") ?? "";
    if (agent === undefined || path === "") return;
    this.#served.note(agent, path).catch((error: unknown) => this.#log.error(error));
  }

  /**
   * Keeps the configuration of a call for later rounds, and answers the one that the runtime has now: see `CallConfigurations.add`. Call it after the runtime has its
   * answer; it never fails.
   */
  keepConfiguration(verb: string, configuration: HostConfiguration, stdin: Uint8Array): HostConfiguration {
    return this.#configurations.add(verb, configuration, stdin);
  }

  #countWaiting(): void {
    this.#waiting = [...this.#states.values()].reduce((count, state) => count + state.waiting, 0);
  }

  #begin(): void {
    this.round().catch((error: unknown) => this.#log.error(error));
  }

  #planNext(): void {
    const { intervalMs } = this.#settings;
    clearTimeout(this.#timer);
    if (intervalMs === 0 || this.#stopped.signal.aborted) return;
    this.#timer = globalThis.setTimeout(() => this.#begin(), intervalMs);
    // The timer must not keep a daemon alive that has otherwise ended.
    this.#timer.unref();
  }

  async #round(dryRun: boolean, impatient: boolean): Promise<RoundReport> {
    const { clock } = this.#deps;
    const [started, date] = [clock.now(), clock.date()];
    // The caller continues before the round's first step.
    await setTimeout(0);
    const agent = this.#deps.agent();
    const found = await this.#roundOfStates(started, agent, { dryRun, impatient });
    const ms = clock.now() - started;
    const report: RoundReport = { started: date.toISOString(), ms, agent: agent !== undefined, dryRun, ...found };
    this.#last = report;
    this.#log.news(report);
    this.#deps.onRound?.(report);
    return report;
  }

  /** One round over each state directory, while there is time. `started`: by the monotonic clock, in ms. */
  async #roundOfStates(
    started: number,
    agent: Agent | undefined,
    { dryRun, impatient }: { readonly dryRun: boolean; readonly impatient: boolean },
  ): Promise<Pick<RoundReport, "entries" | "findings" | "problems">> {
    const { takeLock, clock, isBusy } = this.#deps;
    let work = 0;
    const hasTime = (): boolean => {
      const over = work >= maxWork || clock.now() - started > roundMs;
      return !over && !this.#stopped.signal.aborted && !isBusy();
    };
    const worked = (): number => (work += 1);
    const log = (lines: string): void => this.#log.lines(lines);
    const findings: Finding[] = [];
    const problems: string[] = [];
    let entries = 0;
    for (const [directory, state] of this.#states) {
      try {
        const { now, date } = clock;
        const found = await state.round({ agent, dryRun, impatient, takeLock, hasTime, worked, log, now, date });
        entries += found.entries;
        findings.push(...found.findings);
        problems.push(...found.problems.map(({ msg }) => msg));
      } catch (error) {
        const why = error instanceof ShimGone ? "the agent disconnected" : stackOf(error);
        problems.push(`the round over ${directory} was aborted: ${why}`);
      }
      this.#countWaiting();
    }
    return { entries, findings, problems };
  }
}
