// Sampling: subject and baseline in turns, in one run, so that their ratio doesn't depend on how busy the machine
// happened to be.

/** Does the thing once and answers how long it took, in milliseconds; several times of one turn are a `T`. */
export type Sample<T = number> = () => Promise<T>;

/** Two things to be sampled in turns. */
export interface Pair<T = number> {
  readonly subject: Sample<T>;
  readonly baseline: Sample<T>;
  /** Turns that are not counted, and turns that are. */
  readonly warmUp: number;
  readonly samples: number;
}

/** What each turn took or reached, in the benchmark's unit. Where nothing is there to compare with, the baseline is the bound. */
export interface Samples<T = number> {
  readonly subject: readonly T[];
  readonly baseline: readonly T[];
  /** True: samples of one place were taken one after the other, in a round of seconds each, so that few of them are compared by their rounds. */
  readonly inRounds?: true;
}

/** What a row counts. */
export type Unit = "ms" | "pods/s" | "MiB" | "CPU ms";

export interface Benchmark {
  /** Stays stable: results of different commits are compared by it. */
  readonly id: string;
  /** What is compared with what, for people. */
  readonly title: string;
  /** What the ratio or the median should be, for people. */
  readonly target: string;
  /** Of the samples; ms unless given. */
  readonly unit?: Unit;
  /** Whether the target is a difference: it is told besides. */
  readonly difference?: boolean;
  /** Makes what is needed and takes the samples; a text says why it can't be done here. */
  sample(): Promise<Samples | string>;
}

/**
 * A row of the results. `median`, `p95` and `baseline` (the baseline's median) are in `unit`; ratio = median / baseline, or, of samples in
 * rounds, the median of each round's ratio: between rounds the machine's speed changes more than what is compared.
 */
export interface Measured {
  readonly id: string;
  readonly unit: Unit;
  readonly n: number;
  readonly median: number;
  readonly p95: number;
  readonly baseline: number;
  readonly baselineP95: number;
  readonly ratio: number;
}

/** The value below which the share `q` of the samples lies, interpolated. */
export function quantile(samples: readonly number[], q: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? low;
  return low + (high - low) * (at - Math.floor(at));
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

/** Takes samples: A, B, then B, A, and so on, so that neither always follows the other. */
export async function inTurns<T = number>({ subject, baseline, warmUp, samples }: Pair<T>): Promise<Samples<T>> {
  const taken = { subject: new Array<T>(), baseline: new Array<T>() };
  for (let turn = 0; turn < warmUp + samples; turn++) {
    const subjectFirst = turn % 2 === 0;
    const first = await (subjectFirst ? subject : baseline)();
    const second = await (subjectFirst ? baseline : subject)();
    if (turn < warmUp) continue;
    taken.subject.push(subjectFirst ? first : second);
    taken.baseline.push(subjectFirst ? second : first);
  }
  return taken;
}

/** How much the subject is above the baseline: at the median, and at the value that 95 of 100 samples don't exceed. */
export function above({ subject, baseline }: Samples): { readonly median: number; readonly p95: number } {
  const at = (q: number): number => rounded(quantile(subject, q) - quantile(baseline, q));
  return { median: at(0.5), p95: at(0.95) };
}

export function summary(id: string, { subject, baseline, inRounds }: Samples, unit: Unit = "ms"): Measured {
  const median = quantile(subject, 0.5);
  const base = quantile(baseline, 0.5);
  return {
    id,
    unit,
    n: subject.length,
    median: rounded(median),
    p95: rounded(quantile(subject, 0.95)),
    baseline: rounded(base),
    baselineP95: rounded(quantile(baseline, 0.95)),
    ratio: rounded(inRounds === true ? quantile(ratiosOf(subject, baseline), 0.5) : median / base),
  };
}

function ratiosOf(subject: readonly number[], baseline: readonly number[]): readonly number[] {
  if (subject.length !== baseline.length) throw new Error("a round lacks a sample");
  return subject.map((value, round) => value / (baseline[round] ?? Number.NaN));
}

/** A sample of something that runs in this process. */
export function timed(action: () => Promise<void> | void): Sample {
  return async () => {
    const started = performance.now();
    await action();
    return performance.now() - started;
  };
}

/** Makes rows in MiB of one measurement, which is made once, for the first row that is asked for. */
export function memoryRows<T>(
  measure: () => Promise<T | string>,
): (id: string, title: string, target: string, of: (taken: T) => Samples) => Benchmark {
  let measured: Promise<T | string> | undefined;
  return (id, title, target, of) => ({
    id,
    title,
    target,
    unit: "MiB",
    async sample() {
      measured ??= measure();
      const taken = await measured;
      return typeof taken === "string" ? taken : of(taken);
    },
  });
}
