import { expect, test } from "vitest";
import { fault } from "../../src/fault/fault.ts";
import { readPrometheusText, valueOf } from "../../test/lab/prometheus-text.ts";
import { systemClock } from "../system/clock.ts";
import { CallWatch } from "./call-watch.ts";
import type { LogFields } from "./log.ts";
import { Metrics, maxSeries } from "./metrics/metrics.ts";
import { RecentCalls } from "./recent-calls.ts";
import { RecentFailures } from "./recent-failures.ts";
import { ShadowCounts } from "./shadow-counts.ts";

function watching() {
  const metrics = new Metrics();
  const failures = new RecentFailures();
  const lines: { readonly level: string; readonly fields: LogFields; readonly text: string }[] = [];
  const log = {
    write: (level: string, fields: LogFields, text: string) => void lines.push({ level, fields, text }),
    has: () => true,
    flush: () => true,
  };
  const begin = (environment: Readonly<Record<string, string>>) =>
    new CallWatch(
      {
        clock: systemClock,
        metrics,
        failures,
        calls: new RecentCalls(systemClock),
        shadows: new ShadowCounts(),
        log,
        spans: undefined,
        addState: () => undefined,
      },
      { environment: new Map(Object.entries(environment)) },
    );
  return { metrics, failures, lines, begin };
}

const ended = { what: "call-ended", ms: 1, fault: undefined, configuration: undefined } as const;

test("ten thousand invented networks, types, pods and verbs take a bounded amount of memory", async () => {
  const { metrics, failures, begin } = watching();
  for (let number = 0; number < 10_000; number++) {
    const name = `net-${number}-${"x".repeat(200)}`;
    const watch = begin({
      CNI_COMMAND: `ADD${number}`,
      CNI_CONTAINERID: name,
      CNI_ARGS: `K8S_POD_NAMESPACE=a;K8S_POD_NAME=${name}`,
    });
    const step = {
      containerId: name,
      network: name,
      ifname: "eth0",
      verb: "ADD",
      type: name,
      kind: "native",
      nested: false,
    } as const;
    const reason = fault("LIMIT_MEMORY", `no ${name}`);
    watch.receive({ what: "step-ended", run: 1, step, ms: 1, outcome: { ok: false, fault: reason }, span: undefined });
    watch.receive({ what: "chain-ended", verb: "ADD", network: name, ifname: "eth0", ms: 1, fault: reason });
    watch.receive({ ...ended, fault: reason });
  }
  const text = await metrics.text();
  // A few metrics have maxSeries series each, and a series has some twenty lines of some 500 characters.
  expect(text.length).toBeLessThan(8 * 1024 * 1024);
  const families = readPrometheusText(text);
  const limits = families.get("plexus_limit_verdicts_total")?.samples ?? [];
  expect(limits).toHaveLength(maxSeries + 1);
  expect(limits.reduce((sum, { value }) => sum + value, 0)).toBe(10_000);
  expect(valueOf(families, "plexus_calls_total", { verb: "other", outcome: "failed" })).toBe(10_000);
  expect(failures.list()).toHaveLength(50);
});

test("counts a repeated failure as one, with its remedy", () => {
  const { failures, begin } = watching();
  for (const _ of [1, 2, 3])
    begin({ CNI_COMMAND: "DEL", CNI_CONTAINERID: "c" }).receive({ ...ended, fault: fault("CALL_BUSY", "busy") });
  begin({ CNI_COMMAND: "ADD", CNI_CONTAINERID: "c" }).receive({
    ...ended,
    fault: fault("STORE_FAILED", 'of {"token":"hunter2"}'),
  });
  expect(failures.list()).toMatchObject([
    { verb: "ADD", fault: "STORE_FAILED", code: 5, times: 1, msg: 'of {"token":"[redacted]"}' },
    { verb: "DEL", fault: "CALL_BUSY", code: 11, times: 3, remedy: expect.stringMatching(/^Repeat the call/) },
  ]);
});

test("logs the pod and nothing else of CNI_ARGS; logs STATUS and VERSION at level debug", () => {
  const { lines, begin } = watching();
  begin({ CNI_COMMAND: "ADD", CNI_ARGS: "K8S_POD_NAMESPACE=shop;K8S_POD_NAME=cart=7;TOKEN=hunter2" }).receive(ended);
  begin({ CNI_COMMAND: "STATUS", CNI_ARGS: "K8S_POD_NAME=only" }).receive(ended);
  expect(lines).toMatchObject([
    { level: "info", fields: { verb: "ADD", pod: "shop/cart=7" }, text: "ADD done" },
    { level: "debug", fields: { verb: "STATUS", pod: undefined }, text: "STATUS done" },
  ]);
  expect(JSON.stringify(lines)).not.toContain("hunter2");
});

test("logs a delegate's line at the delegate's level, and a plugin's stderr with its step, both with the call's request", () => {
  const { lines, begin } = watching();
  const watch = begin({ CNI_COMMAND: "ADD" });
  watch.receive({ what: "component-logged", line: "ipam-host-local: warn: the range is nearly full\n" });
  watch.receive({ what: "component-logged", line: "a line of its own\n" });
  watch.receive({ what: "warned", text: "no trace" });
  watch.receive({ what: "plugin-printed", type: "bridge", ifname: "net1", line: "bridge net1: warn: half full\n" });
  watch.receive(ended);
  expect(lines.map(({ level }) => level)).toEqual(["warn", "info", "warn", "info", "info"]);
  expect(lines[3]).toMatchObject({ fields: { step: "bridge", ifname: "net1" }, text: "bridge net1: warn: half full" });
  expect(new Set(lines.map(({ fields }) => fields.request)).size).toBe(1);
  expect(lines[0]?.text).toBe("ipam-host-local: warn: the range is nearly full");
});
