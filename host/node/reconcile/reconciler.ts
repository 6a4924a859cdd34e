// Finds and takes away what no runtime asks to be taken away (RT-02, RT-10, U-11): at the daemon's start and from time to time. No
// runtime calls GC; a reboot, a killed runtime or a lost DEL leaves attachments and addresses behind.

import { setTimeout } from "node:timers/promises";
import { resolve } from "node:path";
import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";
import type { BrainDeps } from "../brain/answer.ts";
import { HandsGone } from "../hands/hands.ts";
import { inertLine } from "../sandbox/inert-text.ts";
import { type Finding, type RoundReport, sentenceOf } from "./finding.ts";
import type { RoundHands } from "./clean.ts";
import { StateRounds } from "./state-round.ts";

export interface ReconcilerInit {
  /** How long a namespace must have been gone, in ms. */
  readonly graceMs: number;
  /** True: rounds only tell. */
  readonly dryRun: boolean;
  /** The state directories (`cniDir`) that are looked after. */
  readonly directories: readonly string[];
  /** Milliseconds from the end of a round to the next; 0: no rounds but those that are asked for. */
  readonly intervalMs: number;
}

export interface ReconcilerDeps {
  /** The hands that are connected now. */
  readonly resident: () => RoundHands | undefined;
  readonly takeLock: BrainDeps["takeLock"];
  /** Whether calls of the runtime wait for their turn: then a round takes nothing more on. */
  readonly isBusy: () => boolean;
  /** A line for the daemon's log. */
  readonly warn: (text: string) => void;
  /** Hears of every round. */
  readonly told?: (report: RoundReport) => void;
}

/** What one round may take before it leaves the rest to the next, in ms; a step that has begun is not cut off. */
const roundMs = 30_000;
/** Undoings of one round; what is only looked at and left alone costs next to nothing, and must not be in others' way for good. */
const mostWork = 256;
/** Findings that are told in the log at once; the others are counted. */
const mostTold = 50;
/** Milliseconds until a configuration that was kept is looked at again. */
const keptMs = 10_000;
const longestLine = 4096;

export class Reconciler {
  readonly #init: ReconcilerInit;
  readonly #deps: ReconcilerDeps;
  readonly #states: ReadonlyMap<string, StateRounds>;
  readonly #kept = new Map<string, number>();
  readonly #elsewhere = new Set<string>();
  readonly #stopped = new AbortController();
  #underWay: { readonly dryRun: boolean; readonly impatient: boolean; readonly report: Promise<RoundReport> } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #told: ReadonlyMap<string, string> = new Map();
  #last: RoundReport | undefined;

  constructor(init: ReconcilerInit, deps: ReconcilerDeps) {
    this.#init = init;
    this.#deps = deps;
    this.#states = new Map(
      init.directories.map((directory) => [resolve(directory), new StateRounds(resolve(directory), init.graceMs)] as const),
    );
  }

  /** What the last round found; undefined before the first one has ended. */
  get last(): RoundReport | undefined {
    return this.#last;
  }

  /** One line for whoever asks for the state of the node. */
  get sentence(): string {
    const last = this.#last;
    if (last === undefined) return "no round yet";
    const count = (...wanted: readonly Finding["handling"][]): number =>
      last.findings.filter(({ handling }) => wanted.includes(handling)).length;
    const hands = last.hands ? "" : "; no resident hands: nothing is cleaned";
    const problems = last.problems.length === 0 ? "" : `; ${last.problems.join("; ")}`;
    const found = `${last.entries} entries, ${last.findings.length} findings, ${count("cleaned")} cleaned, ${count("failed", "paused", "given-up")} failed`;
    return `${last.dryRun ? "dry run " : ""}at ${last.started}: ${found}${hands}${problems}`;
  }

  /** Begins the first round now, and others from time to time; also to be called when hands have come. */
  wake(): void {
    if (this.#init.intervalMs > 0 && !this.#stopped.signal.aborted) this.#begin();
  }

  /** Begins nothing more, and waits for what has begun, at most `mostMs`. */
  async stop(mostMs: number): Promise<void> {
    this.#stopped.abort();
    clearTimeout(this.#timer);
    if (this.#underWay === undefined) return;
    const late = new AbortController();
    const timeout = setTimeout(mostMs, undefined, { signal: late.signal }).catch(() => undefined);
    await Promise.race([this.#underWay.report.catch(() => undefined), timeout]);
    late.abort();
  }

  /**
   * One round; the one that is under way, where there is one like it: two never overlap. `dryRun`: it only tells, as every round
   * does where the daemon was started so. `impatient`: what failed is tried again now, whatever pause is left.
   */
  async round(dryRun = false, impatient = false): Promise<RoundReport> {
    const only = dryRun || this.#init.dryRun;
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

  /** A call was configured so, by this text. Kept for rounds, after the runtime has its answer; never fails a call. */
  heard(configuration: HostConfiguration, stdin: Uint8Array): void {
    const directory = resolve(configuration.cniDir);
    const state = this.#states.get(directory);
    if (state === undefined) {
      if (this.#elsewhere.size >= 64 || this.#elsewhere.has(directory)) return;
      this.#elsewhere.add(directory);
      this.#deps.warn(
        `reconcile: calls keep their state in ${directory}, which is not looked after: start with --state-dir ${directory}`,
      );
      return;
    }
    const name = `${configuration.name}@${directory}`;
    const now = performance.now();
    if (now < (this.#kept.get(name) ?? 0)) return;
    this.#kept.set(name, now + keptMs);
    state.runDirectory(configuration.runDir);
    try {
      const kept = state.configurations.keep(configuration.name, Buffer.from(stdin).toString("utf8"));
      if (!kept.ok) this.#deps.warn(`reconcile: configuration ${configuration.name} can't be kept: ${kept.fault.msg}`);
    } catch (error) {
      this.#deps.warn(`reconcile: configuration ${configuration.name} can't be kept: ${wordsOf(error)}`);
    }
  }

  #begin(): void {
    this.round().catch((error: unknown) => this.#deps.warn(`reconcile: ${wordsOf(error)}`));
  }

  #planNext(): void {
    const { intervalMs } = this.#init;
    clearTimeout(this.#timer);
    if (intervalMs === 0 || this.#stopped.signal.aborted) return;
    this.#timer = globalThis.setTimeout(() => this.#begin(), intervalMs);
    // A daemon that is done doesn't stay for the next round.
    this.#timer.unref();
  }

  async #round(dryRun: boolean, impatient: boolean): Promise<RoundReport> {
    const started = performance.now();
    const date = new Date();
    let work = 0;
    const hasTime = (): boolean => {
      const over = work >= mostWork || performance.now() - started > roundMs;
      return !over && !this.#stopped.signal.aborted && !this.#deps.isBusy();
    };
    // Whoever asked for the round is not kept waiting by its first step.
    await setTimeout(0);
    const resident = this.#deps.resident();
    const { takeLock, warn } = this.#deps;
    const log = (lines: string): void => {
      for (const line of lines.split("\n")) if (line !== "") warn(`reconcile: ${inertLine(line, longestLine)}`);
    };
    const findings: Finding[] = [];
    const problems: string[] = [];
    let entries = 0;
    for (const [directory, state] of this.#states) {
      try {
        const found = await state.round({
          resident,
          dryRun,
          impatient,
          takeLock,
          hasTime,
          worked: () => (work += 1),
          log,
          now: () => performance.now(),
          date: () => new Date(),
        });
        entries += found.entries;
        findings.push(...found.findings);
        problems.push(...found.problems.map(({ msg }) => msg));
      } catch (error) {
        const why = error instanceof HandsGone ? "the resident hands have gone" : wordsOf(error);
        problems.push(`round over ${directory} broke off: ${why}`);
      }
    }
    const report: RoundReport = {
      started: date.toISOString(),
      ms: performance.now() - started,
      hands: resident !== undefined,
      dryRun,
      entries,
      findings,
      problems,
    };
    this.#last = report;
    this.#tell(report);
    this.#deps.told?.(report);
    return report;
  }

  /** Each finding once, and again when it changes. */
  #tell({ findings, problems }: RoundReport): void {
    const told = new Map<string, string>();
    for (const finding of findings) told.set(`${finding.kind} ${finding.directory} ${finding.id}`, sentenceOf(finding));
    for (const problem of problems) told.set(problem, problem);
    const news = [...told].filter(([key, text]) => this.#told.get(key) !== text).map(([, text]) => text);
    for (const text of news.slice(0, mostTold)) this.#deps.warn(`reconcile: ${inertLine(text, longestLine)}`);
    if (news.length > mostTold) this.#deps.warn(`reconcile: and ${news.length - mostTold} more like these`);
    this.#told = told;
  }
}

/** A defect of ours, with where it is. */
function wordsOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
