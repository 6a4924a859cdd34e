// Samples subject and baseline in turns, in one run, so that the machine's load affects both alike and their ratio hardly
// depends on it.

/** Runs subject or baseline once and returns its duration in milliseconds. A sample of several durations returns them as a `T`. */
export type Sample<T = number> = () => Promise<T>;

/** A subject and a baseline to be sampled in turns. */
export interface Pair<T = number> {
  readonly subject: Sample<T>;
  readonly baseline: Sample<T>;
  /** The number of turns before the first sample. */
  readonly warmUp: number;
  /** The number of turns whose values are samples. */
  readonly samples: number;
}

/** The values of subject and baseline, in the benchmark's unit. A benchmark that only has a bound gives this bound as the baseline. */
export interface Samples<T = number> {
  readonly subject: readonly T[];
  readonly baseline: readonly T[];
  /** True if subject and baseline with the same index ran in one round of several seconds: each round then has its own ratio. */
  readonly inRounds?: true;
}

/** The unit of a row. */
export type Unit = "ms" | "pods/s" | "MiB" | "CPU ms";

export interface Benchmark {
  /** Must stay stable, because results of different commits are compared by it. */
  readonly id: string;
  /** Subject and baseline, for human readers. */
  readonly title: string;
  /** The target for the ratio or the median, for human readers. */
  readonly target: string;
  /** The unit of the samples; by default ms. */
  readonly unit?: Unit;
  /** True if the target is a difference from the baseline: `npm run bench` then prints the difference too. */
  readonly difference?: boolean;
  /** Takes the samples; a string is the reason why the benchmark cannot run here. */
  sample(): Promise<Samples | string>;
}

/**
 * A row of the results. `median`, `p95` and `baseline` (the baseline's median) are in `unit`. `ratio` is median / baseline.
 * For samples in rounds it is the median of the rounds' ratios, because the machine's speed changes between rounds.
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

/** The quantile `q` of the samples, interpolated. */
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

/** Takes samples. Subject and baseline take turns to run first, so that neither always follows the other. */
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

/** The subject minus the baseline, at the median and at the 95th percentile. */
export function differenceOf({ subject, baseline }: Samples): { readonly median: number; readonly p95: number } {
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

/** A sample of an action in this process. */
export function timed(action: () => Promise<void> | void): Sample {
  return async () => {
    const started = performance.now();
    await action();
    return performance.now() - started;
  };
}

/**
 * Answers a function that makes benchmarks in MiB. These benchmarks share one measurement, which runs when the first of them is
 * sampled. `samplesOf` takes a benchmark's samples from the measurement.
 */
export function memoryRows<T>(
  measure: () => Promise<T | string>,
): (id: string, title: string, target: string, samplesOf: (taken: T) => Samples) => Benchmark {
  let measured: Promise<T | string> | undefined;
  return (id, title, target, samplesOf) => ({
    id,
    title,
    target,
    unit: "MiB",
    async sample() {
      measured ??= measure();
      const taken = await measured;
      return typeof taken === "string" ? taken : samplesOf(taken);
    },
  });
}
