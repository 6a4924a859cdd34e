// docs/reference/metrics.md, made from the metrics' definitions: `npm run docs` writes it, a test holds it to the code.

import { writeFileSync } from "node:fs";
import { type LabelValues, metricDefinitions, type MetricDefinition } from "../host/metrics/definitions.ts";
import { mostSets } from "../host/metrics/series.ts";

/** The page's path from the repository's root. */
export const metricsPagePath = "docs/reference/metrics.md";

/** Labels with as many values as there are faults are told in words. */
const longestList = 8;

export function metricsPage(): string {
  const rows = Object.entries(metricDefinitions).map(([name, { type, help, labels }]: [string, MetricDefinition]) => {
    const told = Object.entries(labels).map(([label, values]) => `\`${label}\` ${valuesText(values)}`);
    return `| \`${name}\` | ${type} | ${help} | ${told.join("; ")} |`;
  });
  return `# Metrics

What the daemon tells Prometheus. [See what happens](../how-to/see-what-happens.md) says where, and which of them deserve an alert.
Durations are in seconds, and only those of calls that the daemon served: a one-shot brain has none.

| metric | type | what it says | labels |
|---|---|---|---|
${rows.join("\n")}

"Any" is a value that others choose: whoever may create a network names it. Once a metric has ${mostSets} sets of labels, further values of
such labels count together as \`other\`, so that nobody can fill the daemon's memory or Prometheus' with names. A verb \`other\` is a call whose CNI_COMMAND is none of CNI's.

A fault is a kind of [the errors' page](errors.md); \`PLUGIN_FAILED\` is a native plugin that failed for a reason of its own.
`;
}

function valuesText(values: LabelValues): string {
  if (values === "open") return "(any)";
  if (values.length > longestList) return "(a kind of fault)";
  return `(${values.map((value) => `\`${value}\``).join(", ")})`;
}

if (import.meta.main) writeFileSync(metricsPagePath, metricsPage());
