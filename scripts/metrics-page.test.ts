import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { metricDefinitions } from "../host/metrics/definitions.ts";
import { metricsPage, metricsPagePath } from "./metrics-page.ts";

test("the page of metrics is the definitions' (npm run docs writes it)", () => {
  expect(readFileSync(metricsPagePath, "utf8")).toBe(metricsPage());
});

test.each(Object.entries(metricDefinitions))(
  "%s is named by Prometheus' rules and says what it is, in a sentence",
  (name, metric) => {
    expect(name).toMatch(/^(?:plexus|process)_[a-z_]+[a-z]$/);
    expect(name.endsWith("_total")).toBe(metric.type === "counter");
    expect(name.endsWith("_seconds") || metric.type !== "histogram").toBe(true);
    expect(metric.help).toMatch(/^[A-Z].*\.$/);
  },
);
