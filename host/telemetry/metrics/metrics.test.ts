import { expect, test } from "vitest";
import { type Family, readPrometheusText, valueOf } from "../../../test/lab/prometheus-text.ts";
import { Metrics, maxSeries } from "./metrics.ts";

const read = async (metrics: Metrics): Promise<ReadonlyMap<string, Family>> => readPrometheusText(await metrics.text());

test("counts, sets, and calls collectors at a scrape", async () => {
  const metrics = new Metrics();
  metrics.add("plexus_calls_total", { verb: "ADD", outcome: "done" });
  metrics.add("plexus_calls_total", { verb: "ADD", outcome: "done" }, 2);
  let waiting = 0;
  metrics.onScrape(() => metrics.set("plexus_queue_calls", { state: "waiting" }, ++waiting));
  expect((await read(metrics)).get("plexus_calls_total")).toEqual({
    help: "Calls of the runtime that were answered.",
    type: "counter",
    samples: [{ name: "plexus_calls_total", labels: { verb: "ADD", outcome: "done" }, value: 3 }],
  });
  expect(valueOf(await read(metrics), "plexus_queue_calls", { state: "waiting" })).toBe(2);
});

test("counts a duration in the first bucket whose bound is not exceeded, and prints cumulative counts", async () => {
  const metrics = new Metrics();
  for (const seconds of [0.0005, 0.001, 0.0011, 240, 241]) metrics.observe("plexus_queue_wait_seconds", {}, seconds);
  const families = await read(metrics);
  const upTo = (le: string) => valueOf(families, "plexus_queue_wait_seconds", { le }, "_bucket");
  expect(["0.0005", "0.001", "0.0025", "60", "240", "+Inf"].map(upTo)).toEqual([1, 2, 3, 3, 4, 5]);
  expect(valueOf(families, "plexus_queue_wait_seconds", {}, "_sum")).toBeCloseTo(481.0026);
  expect(valueOf(families, "plexus_queue_wait_seconds", {}, "_count")).toBe(5);
});

test("keeps a bounded number of networks apart, and counts further names as other", async () => {
  const metrics = new Metrics();
  const attach = (network: string): void => metrics.observe("plexus_attachment_duration_seconds", { verb: "ADD", network }, 0.01);
  attach("pods");
  for (let number = 0; number < 10_000; number++) attach(`evil-${number}${"x".repeat(5000)}`);
  attach("pods");
  expect((await metrics.text()).length).toBeLessThan(2 * 1024 * 1024);
  const families = await read(metrics);
  const count = (network: string) => valueOf(families, "plexus_attachment_duration_seconds", { network, verb: "ADD" }, "_count");
  expect([count("pods"), count("other")]).toEqual([2, 10_000 - (maxSeries - 1)]);
  const samples = families.get("plexus_attachment_duration_seconds")?.samples ?? [];
  expect(new Set(samples.map(({ labels }) => labels["network"])).size).toBe(maxSeries + 1);
});

test("a replaced gauge has the sum of the names beyond the bound as other", async () => {
  const metrics = new Metrics();
  const readings = Array.from({ length: maxSeries + 50 }, (_, index) => ({ labels: { pool: `pool-${index}` }, value: 3 }));
  for (let round = 0; round < 2; round++) metrics.replace("plexus_leases_used", readings);
  const families = await read(metrics);
  expect(valueOf(families, "plexus_leases_used", { pool: "other" })).toBe(50 * 3);
  expect(valueOf(families, "plexus_leases_used", { pool: "pool-0" })).toBe(3);
});

test("prints a hostile name as one label in one line, and equal inert names once", async () => {
  const metrics = new Metrics();
  const hostile = ['a"} 1\nplexus_ready 0\n#', "a\\", "\u001B[31mred\u0000", "red", "\u202Ered"];
  for (const pool of hostile) metrics.set("plexus_leases_used", { pool }, 7);
  const text = await metrics.text();
  // oxlint-disable-next-line no-control-regex -- the text must not contain control characters
  expect(text).not.toMatch(/[\u0000-\u0009\u000B-\u001F]/);
  const families = readPrometheusText(text);
  expect(valueOf(families, "plexus_ready")).toBeUndefined();
  const pools = families.get("plexus_leases_used")?.samples.map(({ labels }) => labels["pool"]);
  expect(pools).toEqual(['a"} 1 plexus_ready 0 #', "a\\", "red"]);
});

test("a label with a fixed set of values counts all other values as other", async () => {
  const metrics = new Metrics();
  metrics.add("plexus_calls_total", { verb: "EXPLODE\n", outcome: "done" });
  expect(valueOf(await read(metrics), "plexus_calls_total", { verb: "other", outcome: "done" })).toBe(1);
});

test("a failing collector costs a scrape only its own value, and is counted", async () => {
  const metrics = new Metrics();
  metrics.onScrape(() => Promise.reject(new Error("no such directory")));
  metrics.onScrape(() => metrics.set("plexus_ready", {}, 1));
  const families = await read(metrics);
  expect([valueOf(families, "plexus_ready"), valueOf(families, "plexus_scrape_problems_total")]).toEqual([1, 1]);
});

test("replace() removes the series without a new value", async () => {
  const metrics = new Metrics();
  const replace = (...pools: string[]): void =>
    metrics.replace(
      "plexus_leases_used",
      pools.map((pool) => ({ labels: { pool }, value: 1 })),
    );
  replace("a", "b");
  replace("b");
  expect((await read(metrics)).get("plexus_leases_used")?.samples.map(({ labels }) => labels)).toEqual([{ pool: "b" }]);
});
