// A row of the benchmark's result, and how it is held against its target.

export interface Row {
  readonly id: string;
  readonly unit: string;
  readonly n: number;
  readonly median: number;
  readonly p95: number;
  readonly baseline: number;
  readonly ratio: number;
  /** Older results lack it. */
  readonly baselineP95?: number;
}

export interface Meaning {
  readonly what: string;
  readonly target: string;
  /** Whether the row meets the target; a row without one has no target of its own. */
  readonly met?: (row: Row) => boolean;
}

export const below =
  (bound: number) =>
  ({ median }: Row): boolean =>
    median <= bound;
export const ratioAtMost =
  (bound: number) =>
  ({ ratio }: Row): boolean =>
    ratio <= bound;
export const ratioAtLeast =
  (bound: number) =>
  ({ ratio }: Row): boolean =>
    ratio >= bound;
export const faster = ({ ratio }: Row): boolean => ratio < 1;
export const medianAbove =
  (bound: number) =>
  ({ median, baseline }: Row): boolean =>
    median - baseline <= bound;

export const comparison = "none: for comparison";
