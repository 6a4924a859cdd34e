// The series of one metric: one for each set of label values. Users choose some values (the author of a definition names a network), so the
// number of series is bounded. Further sets share one series.

import { inertLine } from "../../../src/text/inert-text.ts";
import type { MetricDefinition } from "./definitions.ts";

/** Maximum series of one metric. In further ones, values that users chose become `other`. */
export const maxSeries = 200;
/** Maximum length of a label's value, in UTF-16 units. */
const maxValue = 128;
/** The label's value in the place of all values beyond the bound. */
const otherValue = "other";

/** One series. */
export interface Series {
  /** The label values, in the order of the definition's labels. */
  readonly values: readonly string[];
  /** A counter's or gauge's value, or a histogram's sum. */
  sum: number;
  /** A histogram's observations in each bucket, +Inf last; not cumulative. */
  readonly counts: Float64Array;
}

type Labels = Readonly<Record<string, string>>;

/** All series of one metric. */
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

  /** The series with these label values: an existing one, a new one, or the shared one if there are too many. */
  of(labels: Labels): Series {
    const raw = this.#labels.map(([name]) => labels[name] ?? "");
    const existing = this.#series.get(keyOf(raw));
    if (existing !== undefined) return existing;
    // Different names may be equal without their control characters. They must not become two series with the same labels.
    const inert = this.#allowed(raw, (value) => inertLine(value, maxValue));
    const found = this.#series.get(keyOf(inert));
    if (found !== undefined) return found;
    if (this.#series.size < maxSeries) return this.#make(inert);
    const shared = this.#allowed(raw, () => otherValue);
    return this.#series.get(keyOf(shared)) ?? this.#make(shared);
  }

  /** All series, in order of creation. */
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

/** Each value has its length in front, so that different lists never have the same key. */
function keyOf(values: readonly string[]): string {
  let key = "";
  for (const value of values) key += `${value.length}:${value}`;
  return key;
}
