// The series of one metric: one for each set of label values. Where others choose the values (networks are named by whoever may create
// definitions), only so many sets are kept apart; all further ones count together.

import { inertLine } from "../sandbox/inert-text.ts";
import type { MetricDefinition } from "./definitions.ts";

/** Sets of label values of one metric, before values that others chose become `other`. */
export const mostSets = 200;
/** UTF-16 units of a label's value. */
const longestValue = 128;
export const otherValue = "other";

export interface Series {
  /** In the order of the definition's labels. */
  readonly values: readonly string[];
  /** A counter's or gauge's value, or a histogram's sum. */
  sum: number;
  /** A histogram's observations for each bucket, +Inf the last; not cumulated. */
  readonly counts: Float64Array;
}

type Labels = Readonly<Record<string, string>>;

export class SeriesOf {
  readonly definition: MetricDefinition;
  readonly #labels: readonly (readonly [name: string, allowed: ReadonlySet<string> | undefined])[];
  readonly #series = new Map<string, Series>();

  constructor(definition: MetricDefinition) {
    this.definition = definition;
    this.#labels = Object.entries(definition.labels).map(([name, values]) => [
      name,
      values === "open" ? undefined : new Set(values),
    ]);
  }

  /** The series of these values; a new one where there is none yet, or the one of the others. */
  of(labels: Labels): Series {
    const given = this.#labels.map(([name]) => labels[name] ?? "");
    const usual = this.#series.get(keyOf(given));
    if (usual !== undefined) return usual;
    // Different names may be the same once they are harmless: they must not become two series of one name.
    const harmless = this.#allowed(given, (value) => inertLine(value, longestValue));
    const found = this.#series.get(keyOf(harmless));
    if (found !== undefined) return found;
    if (this.#series.size < mostSets) return this.#make(harmless);
    const crowded = this.#allowed(given, () => otherValue);
    return this.#series.get(keyOf(crowded)) ?? this.#make(crowded);
  }

  /** In the order in which they came. */
  all(): Iterable<Series> {
    return this.#series.values();
  }

  clear(): void {
    this.#series.clear();
  }

  #allowed(values: readonly string[], open: (value: string) => string): readonly string[] {
    return this.#labels.map(([, allowed], index) => {
      const value = values[index] ?? "";
      if (allowed === undefined) return open(value);
      return allowed.has(value) ? value : otherValue;
    });
  }

  #make(values: readonly string[]): Series {
    const { buckets } = this.definition;
    const series = { values, sum: 0, counts: new Float64Array(buckets === undefined ? 0 : buckets.length + 1) };
    this.#series.set(keyOf(values), series);
    return series;
  }
}

/** Lengths in front, so that no value can look like two. */
function keyOf(values: readonly string[]): string {
  let key = "";
  for (const value of values) key += `${value.length}:${value}`;
  return key;
}
