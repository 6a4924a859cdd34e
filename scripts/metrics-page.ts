// Generates docs/reference/metrics.md from the metrics' definitions (`npm run docs`). A test checks that the page is current.

import { writeFileSync } from "node:fs";
import { features } from "../features/list.ts";
import { controllerMetricDefinitions } from "../host/telemetry/metrics/controller-definitions.ts";
import {
  type LabelValues,
  metricDefinitions,
  type MetricDefinition,
  type MetricDefinitions,
} from "../host/telemetry/metrics/definitions.ts";
import { maxSeries } from "../host/telemetry/metrics/metrics.ts";

/** The page's path from the repository's root. */
export const metricsPagePath = "docs/reference/metrics.md";

/** The metrics of the features' parts in the controller. */
const ofFeatures = await Promise.all(features.map(async ({ controller }) => (await controller?.())?.metrics ?? {}));
/** The metrics of plexus-controller. */
export const controllerMetrics: MetricDefinitions = Object.assign({}, controllerMetricDefinitions, ...ofFeatures);

/** The daemon's metrics. */
export const daemonMetrics: MetricDefinitions = Object.assign(
  {},
  metricDefinitions,
  ...(await Promise.all(features.map(({ metrics }) => metrics?.() ?? {}))),
);

/** Longer lists of values, such as all fault kinds, are described instead of listed. */
const maxListed = 8;

/** The page's text. */
export function metricsPage(): string {
  return `# Metrics

The daemon's metrics for Prometheus. [See what happens](../how-to/see-what-happens.md) describes where to scrape them and which alerts to set.
Durations are in seconds. All metrics are about calls that the daemon served: a one-shot engine has no metrics.

| metric | type | meaning | labels |
|---|---|---|---|
${rowsOf(daemonMetrics)}

## plexus-controller

The leader's metrics are about its work; a replica that waits for the lease has the process' metrics only.

| metric | type | meaning | labels |
|---|---|---|---|
${rowsOf(controllerMetrics)}

"Any": users choose the value, such as the name of a network. Once a metric has ${maxSeries} series, further values of such labels count together as
\`other\`, so that names cannot fill the memory of the daemon or of Prometheus. The verb \`other\` is a call with an unknown CNI_COMMAND.

A fault kind is a kind of [Errors](errors.md). \`PLUGIN_FAILED\` means that a native plugin returned an error.
`;
}

function rowsOf(definitions: MetricDefinitions): string {
  const rows = Object.entries(definitions).map(([name, { type, help, labels }]: [string, MetricDefinition]) => {
    const labelTexts = Object.entries(labels).map(([label, values]) => `\`${label}\` ${valuesText(values)}`);
    return `| \`${name}\` | ${type} | ${help} | ${labelTexts.join("; ")} |`;
  });
  return rows.join("\n");
}

function valuesText(values: LabelValues): string {
  if (values === "open") return "(any)";
  if (values.length > maxListed) return "(a fault kind)";
  return `(${values.map((value) => `\`${value}\``).join(", ")})`;
}

if (import.meta.main) writeFileSync(metricsPagePath, metricsPage());
