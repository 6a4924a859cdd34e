// Prints metrics in Prometheus' text format, version 0.0.4.

import type { Series, SeriesOf } from "./series.ts";

/** The format's Content-Type. */
export const expositionType = "text/plain; version=0.0.4; charset=utf-8";

/** The text of all metrics. */
export function exposition(metrics: ReadonlyMap<string, SeriesOf>): string {
  const lines: string[] = [];
  for (const [name, metric] of metrics) {
    const { type, help } = metric.definition;
    lines.push(`# HELP ${name} ${help.replaceAll("\\", "\\\\")}`, `# TYPE ${name} ${type}`);
    for (const series of metric.all()) {
      if (type === "histogram") lines.push(...histogram(name, metric, series));
      else lines.push(`${name}${labelText(metric, series)} ${numberText(series.sum)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

function histogram(name: string, metric: SeriesOf, series: Series): string[] {
  const bounds = [...(metric.definition.buckets ?? []), Infinity];
  let count = 0;
  const buckets = bounds.map((bound, index) => {
    count += series.counts[index] ?? 0;
    return `${name}_bucket${labelText(metric, series, ["le", numberText(bound)])} ${count}`;
  });
  const labels = labelText(metric, series);
  return [...buckets, `${name}_sum${labels} ${numberText(series.sum)}`, `${name}_count${labels} ${count}`];
}

function labelText({ definition }: SeriesOf, { values }: Series, bucket?: readonly [string, string]): string {
  const pairs = Object.keys(definition.labels).map((name, index): readonly [string, string] => [name, values[index] ?? ""]);
  if (bucket !== undefined) pairs.push(bucket);
  if (pairs.length === 0) return "";
  return `{${pairs.map(([name, value]) => `${name}="${escaped(value)}"`).join(",")}}`;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function numberText(value: number): string {
  if (value === Infinity) return "+Inf";
  if (value === -Infinity) return "-Inf";
  return String(value);
}
