// The chart's dashboard and alerts against the metrics that a real daemon and a real controller serve: a renamed metric or label would leave an empty panel or an
// alert that never fires.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { controllerMetrics, daemonMetrics } from "../../scripts/metrics-page.ts";
import { root } from "../lab/compiled.ts";
import { startController, type TestController } from "../lab/controller.ts";
import { startDaemon, type TestDaemon } from "../lab/daemon.ts";
import { httpRequest } from "../lab/http-request.ts";
import { type Family, readPrometheusText } from "../lab/prometheus-text.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";
import { readQuery, type Selector } from "./promql.ts";

const files = join(root, "deploy", "helm", "plexus", "files");

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook_url: string };
}
interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

/** All metrics by name. Those that both programs have have the same labels in both. */
const definitions = { ...daemonMetrics, ...controllerMetrics };

function alertsOf(file: string): readonly Alert[] {
  const rules: { readonly groups: readonly { readonly rules: readonly Alert[] }[] } = parse(
    readFileSync(join(files, file), "utf8"),
  );
  return rules.groups.flatMap((group) => group.rules);
}
const dashboard: { readonly panels: readonly Panel[] } = JSON.parse(readFileSync(join(files, "dashboard.json"), "utf8"));
const controllerAlerts = alertsOf("controller-alerts.yaml");
const alerts = [...alertsOf("alerts.yaml"), ...controllerAlerts];
const panels = dashboard.panels.filter(({ type }) => type !== "row");

/** Labels that Prometheus and the monitors of the chart add to each series. */
const added: readonly string[] = ["node", "pod", "namespace", "job", "instance"];

/** A query's first mistake; undefined for a correct query. */
function mistakeIn(expression: string, families: ReadonlyMap<string, Family>): string | undefined {
  const { selectors, grouping } = readQuery(expression);
  if (selectors.length === 0) return "no metric";
  for (const selector of selectors) {
    const found = familyOf(selector, families);
    if (found === undefined) return `${selector.metric} is no metric`;
    const labels = labelsOf(found, selector.metric);
    for (const { label, operator, value } of selector.matchers) {
      const values = labels[label];
      if (values === undefined) return `${selector.metric} has no label ${label}`;
      const wanted =
        operator === "=" || operator === "!=" ? (each: string) => each === value : (each: string) => matches(each, value);
      if (Array.isArray(values) && !values.some(wanted)) return `${label} of ${selector.metric} is never ${value}`;
    }
    const absent = grouping.find((label) => labels[label] === undefined);
    if (absent !== undefined) return `${selector.metric} has no label ${absent} to group by`;
  }
  return undefined;
}

const matches = (text: string, pattern: string): boolean => new RegExp(`^(?:${pattern})$`, "u").test(text);

/** The name of the family that has this series: a histogram has three kinds of series and none of its own name. */
function familyOf({ metric }: Selector, families: ReadonlyMap<string, Family>): string | undefined {
  const histogram = metric.replace(/_(?:bucket|sum|count)$/u, "");
  if (families.get(histogram)?.type === "histogram") return histogram === metric ? undefined : histogram;
  return families.has(metric) ? metric : undefined;
}

function labelsOf(family: string, metric: string): Readonly<Record<string, readonly string[] | "open">> {
  const own = Object.entries(definitions).find(([name]) => name === family)?.[1].labels ?? {};
  const open = Object.fromEntries(added.map((label) => [label, "open"] as const));
  return { ...own, ...open, ...(metric.endsWith("_bucket") ? { le: "open" as const } : {}) };
}

describe.skipIf(missing("the chart's dashboard and alerts", privateNamespaces))("the chart's dashboard and alerts", () => {
  let directory = "";
  let daemon: TestDaemon | undefined;
  let controller: TestController | undefined;
  let daemonFamilies: ReadonlyMap<string, Family> = new Map();
  let controllerFamilies: ReadonlyMap<string, Family> = new Map();
  let families: ReadonlyMap<string, Family> = new Map();
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "plexus-monitoring-"));
    const socket = join(directory, "run", "plexus.sock");
    daemon = await startDaemon({ socket, args: ["--state-dir", join(directory, "state")] });
    const { body } = await httpRequest(join(directory, "run", "status.sock"), "/metrics");
    daemonFamilies = readPrometheusText(body);
    // Without an API server the controller serves its pages, too.
    const kubeconfig = join(directory, "kubeconfig");
    const cluster = { name: "c", cluster: { server: "https://127.0.0.1:1" } };
    const context = { name: "c", context: { cluster: "c", user: "u" } };
    const users = [{ name: "u", user: { token: "t" } }];
    const config = { apiVersion: "v1", kind: "Config", clusters: [cluster], contexts: [context], users, "current-context": "c" };
    writeFileSync(kubeconfig, JSON.stringify(config));
    controller = await startController({ identity: "c", kubeconfig });
    controllerFamilies = readPrometheusText((await controller.page("/metrics")).body);
    families = new Map([...controllerFamilies, ...daemonFamilies]);
  });
  afterAll(async () => {
    await controller?.kill();
    await daemon?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  test("the pages of daemon and controller have the metrics that are defined", () => {
    expect([...daemonFamilies.keys()].toSorted()).toEqual(Object.keys(daemonMetrics).toSorted());
    expect([...controllerFamilies.keys()].toSorted()).toEqual(Object.keys(controllerMetrics).toSorted());
  });

  test.each(controllerAlerts.map(({ alert, expr }) => [alert, expr] as const))(
    "alert %s, which comes with the controller only, is about its metrics: %s",
    (_, expression) => {
      expect(mistakeIn(expression, controllerFamilies)).toBeUndefined();
    },
  );

  test.each(panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)))(
    "panel %s: %s",
    (_, expression) => {
      expect(mistakeIn(expression, families)).toBeUndefined();
    },
  );

  test.each(alerts.map(({ alert, expr }) => [alert, expr] as const))("alert %s: %s", (_, expression) => {
    expect(mistakeIn(expression, families)).toBeUndefined();
  });

  test.each([
    ["plexus_redy == 0", "plexus_redy is no metric"],
    ['rate(plexus_calls_total{verbs="ADD"}[5m])', "no label verbs"],
    ['rate(plexus_calls_total{verb="ATTACH"}[5m])', "never ATTACH"],
    ["sum by (fault) (rate(plexus_calls_total[5m]))", "no label fault to group by"],
    ["rate(plexus_call_duration_seconds[5m])", "is no metric"],
    ['plexus_controller_external_ports{state="full"}', "never full"],
    ["sum(rate(plexus_calls_total[5m])", "unclosed"],
    ["sum(1)", "no metric"],
  ])("this test finds the mistake in %s", (expression, mistake) => {
    const found = (): string | undefined => {
      try {
        return mistakeIn(expression, families);
      } catch (error) {
        return String(error);
      }
    };
    expect(found()).toContain(mistake);
  });
});

describe("alerts", () => {
  test("each says what to do, and leads to a page and its heading", () => {
    expect(alerts.length).toBeGreaterThan(10);
    for (const { labels, annotations } of alerts) {
      expect(["critical", "warning"]).toContain(labels.severity);
      expect(annotations.description).toMatch(/To do: \S/u);
      const [, page = "", heading = ""] = /^https:\/\/\S+\/blob\/main\/([^#]+)(?:#(.+))?$/u.exec(annotations.runbook_url) ?? [];
      const headings = [...readFileSync(join(root, page), "utf8").matchAll(/^#+ (.+)$/gmu)].map(([, title = ""]) =>
        anchorOf(title),
      );
      expect(["", ...headings]).toContain(heading);
    }
  });

  test("each label in a text is one that the alert's query keeps", () => {
    for (const { expr, annotations } of alerts) {
      const used = Object.values(annotations).flatMap((text) =>
        [...text.matchAll(/\$labels\.(\w+)/gu)].map(([, label]) => label),
      );
      const { grouping, selectors } = readQuery(expr);
      const metric = selectors[0]?.metric ?? "";
      const kept = grouping.length > 0 ? grouping : Object.keys(labelsOf(metric, metric));
      expect(kept).toEqual(expect.arrayContaining(used));
    }
  });
});

describe("E-16: the dashboard", () => {
  test("has a title and a description for each panel, and no two panels in one place", () => {
    const cells = new Set<string>();
    for (const { title, description = "", gridPos, targets = [] } of panels) {
      expect(title).not.toBe("");
      expect(description.length).toBeGreaterThan(8);
      expect(targets.length).toBeGreaterThan(0);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(cells).not.toContain(`${x},${y}`);
          cells.add(`${x},${y}`);
        }
      }
    }
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  });
});

/** GitHub's anchor of a heading. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}
