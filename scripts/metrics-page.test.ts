import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { controllerMetrics, daemonMetrics, metricsPage, metricsPagePath } from "./metrics-page.ts";

const definitions = { ...daemonMetrics, ...controllerMetrics };

test("the metrics page is generated from the definitions (npm run docs)", () => {
  expect(readFileSync(metricsPagePath, "utf8")).toBe(metricsPage());
});

test("the code uses every metric", () => {
  const isDefinition = /metrics\/(?:controller-)?definitions\.ts$|\/metrics\.ts$/;
  const sources = ["host", "features"]
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)))
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && !isDefinition.test(name))
    .map((name) => readFileSync(name, "utf8"))
    .join("\n");
  expect(Object.keys(definitions).filter((name) => !sources.includes(`"${name}"`))).toEqual([]);
});

test("the guides name only metrics that exist", () => {
  const guides = readdirSync("docs", { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"));
  const named = guides.flatMap((name) => readFileSync(join("docs", name), "utf8").match(/\bplexus_[a-z_]*[a-z]\b/g) ?? []);
  expect(named.length).toBeGreaterThan(10);
  const unknown = named.map((name) => name.replace(/_bucket$/, "")).filter((name) => !Object.hasOwn(definitions, name));
  expect(unknown).toEqual([]);
});

test.each(Object.entries(definitions))("%s has a name by Prometheus' rules and a help text of one sentence", (name, metric) => {
  expect(name).toMatch(/^(?:plexus|process)_[a-z_]+[a-z]$/);
  expect(name.endsWith("_total")).toBe(metric.type === "counter");
  expect(name.endsWith("_seconds") || metric.type !== "histogram").toBe(true);
  expect(metric.help).toMatch(/^[A-Z].*\.$/);
});
