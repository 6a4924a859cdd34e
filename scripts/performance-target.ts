// The rows of the benchmark's result, and the conditions of their targets.

/** A measured row; all figures in `unit`, except `n` (measurements) and `ratio` (subject to baseline). */
export interface Row {
  readonly id: string;
  readonly unit: string;
  readonly n: number;
  readonly median: number;
  readonly p95: number;
  readonly baseline: number;
  readonly ratio: number;
  readonly baselineP95: number;
}

/** A benchmark that failed: it has no figures. */
export interface FailedRow {
  readonly id: string;
  readonly failed: string;
}

/** Whether the row of benchmark.json is a failure. */
export function hasFailed(row: Row | FailedRow): row is FailedRow {
  return "failed" in row;
}

/** The description of a row. */
export interface Meaning {
  /** Subject and baseline. */
  readonly what: string;
  readonly target: string;
  /** Whether the row meets its target; undefined if the row has no target. */
  readonly met?: (row: Row) => boolean;
  /** A goal beyond the target, which "Goals that are not reached" explains. */
  readonly goal?: Goal;
}

/** A goal of a row. */
export interface Goal {
  readonly text: string;
  readonly met: (row: Row) => boolean;
}

/** The median is at most the bound. */
export const below =
  (bound: number) =>
  ({ median }: Row): boolean =>
    median <= bound;
/** The ratio is at most the bound. */
export const ratioAtMost =
  (bound: number) =>
  ({ ratio }: Row): boolean =>
    ratio <= bound;
/** The ratio is at least the bound. */
export const ratioAtLeast =
  (bound: number) =>
  ({ ratio }: Row): boolean =>
    ratio >= bound;
/** The subject's figure is lower than the baseline's. */
export const faster = ({ ratio }: Row): boolean => ratio < 1;
/** The median is above the baseline by at most the bound. */
export const medianAbove =
  (bound: number) =>
  ({ median, baseline }: Row): boolean =>
    median - baseline <= bound;

/** The target of rows that exist for comparison only. */
export const comparison = "none: for comparison";
