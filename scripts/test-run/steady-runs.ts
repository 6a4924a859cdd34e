// Runs of `npm test` beside a load, as data.

/** One run of `npm run test:steady`. */
export interface SteadyRun {
  /** The day of the run's end, as YYYY-MM-DD. */
  readonly date: string;
  readonly commit: string;
  readonly minutes: number;
  readonly passed: number;
  readonly skipped: number;
  /** File, title and message of each failure, those that a repetition did not confirm included. */
  readonly failures: readonly string[];
}

/** The number of runs at the end of the list that had no failure. */
export function steadyAtEnd(runs: readonly SteadyRun[]): number {
  const last = runs.findLastIndex(({ failures }) => failures.length > 0);
  return runs.length - 1 - last;
}
