// The chart's alerts and the dashboard's queries, evaluated by Prometheus' own promtool: no alert on a healthy node, and each alert for its cause.

import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { root } from "../lab/compiled.ts";
import { promtool, promtoolBinary } from "../lab/promtool.ts";
import { missing } from "../lab/requires.ts";

const files = join(root, "deploy", "helm", "plexus", "files");
const ruleFiles = ["alerts.yaml", "controller-alerts.yaml"] as const;
const minutes = 120;

/** Series of a healthy node and of two replicas of plexus-controller: a value for each minute. */
const healthy: Readonly<Record<string, string>> = {
  'plexus_build_info{node="a",version="1"}': `1x${minutes}`,
  'plexus_ready{node="a",pod="p"}': `1x${minutes}`,
  'plexus_agents{node="a",pod="p"}': `1x${minutes}`,
  'plexus_cni_configuration_written{node="a",pod="p"}': `1x${minutes}`,
  'plexus_cni_configuration_retired{node="a",pod="p"}': `1x5 0x${minutes}`,
  'plexus_node_credentials_expiry_timestamp_seconds{node="a",pod="p"}': `86400x${minutes}`,
  'plexus_calls_total{node="a",verb="ADD",outcome="done"}': `0+60x${minutes}`,
  'plexus_call_failures_total{node="a",verb="ADD",fault="PLUGIN_FAILED"}': `3x${minutes}`,
  'plexus_call_failures_total{node="a",verb="DEL",fault="PLUGIN_FAILED"}': `3x${minutes}`,
  'plexus_journal_entries{node="a",state="kept"}': `50x${minutes}`,
  'plexus_journal_entries{node="a",state="abandoned"}': `0x${minutes}`,
  'plexus_reconcile_cleaned_total{node="a",kind="attachment"}': `0+1x2 2x${minutes}`,
  'plexus_reconcile_failures_total{node="a",kind="lease"}': `0x${minutes}`,
  'plexus_leases_used{node="a",pool="/leases"}': `200x${minutes}`,
  'plexus_leases_size{node="a",pool="/leases"}': `254x${minutes}`,
  'plexus_links_lost{node="a",pod="p",fault="gone"}': `0x10 1x3 0x${minutes}`,
  'plexus_network_packets_total{node="a",network="shop/storage",direction="receive"}': `0+6000x${minutes}`,
  'plexus_network_drops_total{node="a",network="shop/storage",direction="receive"}': `0+6x${minutes}`,
  'plexus_address_conflicts_total{node="a",network="shop/storage"}': `2x${minutes}`,
  'plexus_queue_calls{node="a",state="waiting"}': `0 5 0x${minutes}`,
  'plexus_queue_refused_total{node="a"}': `0x${minutes}`,
  'plexus_limit_verdicts_total{node="a",limit="LIMIT_TIME",type="c"}': `0x${minutes}`,
  'plexus_sandbox_control{node="a",control="landlock"}': `1x${minutes}`,
  'plexus_sandbox_control{node="a",control="user-namespace"}': `0x${minutes}`,
  'plexus_log_lines_dropped_total{node="a"}': `0x${minutes}`,
  'plexus_controller_build_info{pod="c1",version="1"}': `1x${minutes}`,
  // The second replica leads after 20 minutes, with nobody leading for 3 minutes.
  'plexus_controller_leader{pod="c1"}': `1x20 0x${minutes}`,
  'plexus_controller_leader{pod="c2"}': `0x23 1x${minutes}`,
  'plexus_controller_pool_addresses{pod="c2",pool="storage",family="IPv4",state="in-blocks"}': `64+64x13 960x${minutes}`,
  'plexus_controller_pool_addresses{pod="c2",pool="storage",family="IPv4",state="free"}': `960-64x13 128x${minutes}`,
  // Not accepted yet: no addresses.
  'plexus_controller_pool_addresses{pod="c2",pool="new",family="IPv6",state="in-blocks"}': `0x${minutes}`,
  'plexus_controller_pool_addresses{pod="c2",pool="new",family="IPv6",state="free"}': `0x${minutes}`,
  'plexus_controller_external_ports{pod="c2",provider="neutron",state="ready"}': `50x${minutes}`,
  'plexus_controller_external_ports{pod="c2",provider="neutron",state="unanswered"}': `1x${minutes}`,
  'plexus_controller_external_ports{pod="c2",provider="neutron",state="deleted"}': `1x${minutes}`,
  'plexus_controller_external_ports{pod="c2",provider="neutron",state="quota"}': `0x10 3x10 0x${minutes}`,
};

/** For each alert the series of its cause; undefined: the series is absent. */
const causes: Readonly<Record<string, Readonly<Record<string, string | undefined>>>> = {
  PlexusNotReady: { 'plexus_ready{node="a",pod="p"}': `1x5 0x${minutes}` },
  PlexusLinksLost: { 'plexus_links_lost{node="a",pod="p",fault="gone"}': `0x10 2x${minutes}` },
  PlexusNetworkDrops: {
    'plexus_network_drops_total{node="a",network="shop/storage",direction="receive"}': `0+600x${minutes}`,
  },
  PlexusAddressConflicts: { 'plexus_address_conflicts_total{node="a",network="shop/storage"}': `0+1x${minutes}` },
  PlexusAbsent: { 'plexus_build_info{node="a",version="1"}': undefined },
  PlexusConfigurationMissing: { 'plexus_cni_configuration_written{node="a",pod="p"}': `0x${minutes}` },
  PlexusConfigurationProblem: { 'plexus_cni_configuration_problem{node="a",pod="p",fault="SHIM_MISSING"}': `1x${minutes}` },
  PlexusRetired: { 'plexus_cni_configuration_retired{node="a",pod="p"}': `1x${minutes}` },
  PlexusNodeTokenExpires: { 'plexus_node_credentials_expiry_timestamp_seconds{node="a",pod="p"}': `14400x${minutes}` },
  PlexusPodsFail: { 'plexus_call_failures_total{node="a",verb="ADD",fault="PLUGIN_FAILED"}': `0+1x${minutes}` },
  PlexusSandboxesStay: { 'plexus_call_failures_total{node="a",verb="DEL",fault="PLUGIN_FAILED"}': `0+1x${minutes}` },
  PlexusAttachmentAbandoned: { 'plexus_journal_entries{node="a",state="abandoned"}': `1x${minutes}` },
  PlexusRuntimeForgets: { 'plexus_reconcile_cleaned_total{node="a",kind="attachment"}': `0+1x${minutes}` },
  PlexusAgentAway: { 'plexus_agents{node="a",pod="p"}': `0x${minutes}` },
  PlexusReconcileFails: { 'plexus_reconcile_failures_total{node="a",kind="lease"}': `0+1x${minutes}` },
  PlexusPoolNearlyFull: { 'plexus_leases_used{node="a",pool="/leases"}': `240x${minutes}` },
  PlexusCallsWait: { 'plexus_queue_calls{node="a",state="waiting"}': `5x${minutes}` },
  PlexusCallsRefused: { 'plexus_queue_refused_total{node="a"}': `0+1x${minutes}` },
  PlexusDelegateStopped: { 'plexus_limit_verdicts_total{node="a",limit="LIMIT_TIME",type="c"}': `0+1x${minutes}` },
  PlexusSandboxControlMissing: { 'plexus_sandbox_control{node="a",control="landlock"}': `0x${minutes}` },
  PlexusLogBlocked: { 'plexus_log_lines_dropped_total{node="a"}': `0+1x${minutes}` },
  PlexusControllerAbsent: {
    'plexus_controller_build_info{pod="c1",version="1"}': undefined,
    'plexus_controller_leader{pod="c1"}': undefined,
    'plexus_controller_leader{pod="c2"}': undefined,
  },
  PlexusControllerWithoutLeader: { 'plexus_controller_leader{pod="c2"}': `0x${minutes}` },
  PlexusAddressPoolNearlyFull: {
    'plexus_controller_pool_addresses{pod="c2",pool="storage",family="IPv4",state="in-blocks"}': `960x${minutes}`,
    'plexus_controller_pool_addresses{pod="c2",pool="storage",family="IPv4",state="free"}': `64x${minutes}`,
  },
  PlexusExternalPortsNotReady: {
    'plexus_controller_external_ports{pod="c2",provider="neutron",state="quota"}': `3x${minutes}`,
  },
};

describe.skipIf(missing("alerts in promtool", promtool))("promtool", () => {
  let directory = "";
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "plexus-alerts-"));
    for (const file of ruleFiles) copyFileSync(join(files, file), join(directory, file));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const run = (...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(promtoolBinary() ?? "", args, { cwd: directory, encoding: "utf8" });
    return { status, output: `${stdout}${stderr}` };
  };
  /** Runs the rules over the series for two hours and compares the firing alerts. */
  const fires = (series: Readonly<Record<string, string | undefined>>, alerts: readonly string[]) => {
    const input = Object.entries(series).flatMap(([name, values]) => (values === undefined ? [] : [{ series: name, values }]));
    const expected = alerts.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 }));
    const expr = 'count by (alertname) (ALERTS{alertstate="firing"})';
    const check = {
      interval: "1m",
      input_series: input,
      promql_expr_test: [{ expr, eval_time: `${minutes}m`, exp_samples: expected }],
    };
    writeFileSync(
      join(directory, "test.json"),
      JSON.stringify({ rule_files: ruleFiles, evaluation_interval: "1m", tests: [check] }),
    );
    return run("test", "rules", "test.json");
  };

  test("no alert fires on a healthy node and for a healthy controller", () => {
    expect(fires(healthy, [])).toMatchObject({ status: 0 });
  });

  test.each(Object.keys(causes))("%s fires for its cause, and no other alert does", (alert) => {
    expect(fires({ ...healthy, ...causes[alert] }, [alert])).toMatchObject({ status: 0 });
  });

  test("an alert that should not fire, and one that does not, are noticed", () => {
    const [alert = ""] = Object.keys(causes);
    expect(fires({ ...healthy, ...causes[alert] }, [])).toMatchObject({ status: 1 });
    expect(fires(healthy, [alert])).toMatchObject({ status: 1 });
  });

  test("every alert has a cause in this test", () => {
    const alerts = ruleFiles.flatMap((file) => {
      const rules: { readonly groups: readonly { readonly rules: readonly { readonly alert: string }[] }[] } = parse(
        readFileSync(join(files, file), "utf8"),
      );
      return rules.groups.flatMap((group) => group.rules.map(({ alert }) => alert));
    });
    expect(Object.keys(causes).toSorted()).toEqual(alerts.toSorted());
  });

  test("accepts the rules and every query of the dashboard", () => {
    const { panels }: { readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[] } = JSON.parse(
      readFileSync(join(files, "dashboard.json"), "utf8"),
    );
    const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    const recorded = queries.map((query, index) => ({
      record: `dashboard:query:${index}`,
      expr: query.replaceAll("$__rate_interval", "5m").replaceAll("$node", ".*"),
    }));
    writeFileSync(join(directory, "queries.json"), JSON.stringify({ groups: [{ name: "dashboard", rules: recorded }] }));
    expect(queries.length).toBeGreaterThan(30);
    expect(run("check", "rules", ...ruleFiles, "queries.json")).toMatchObject({ status: 0 });
    writeFileSync(
      join(directory, "wrong.json"),
      JSON.stringify({ groups: [{ name: "x", rules: [{ record: "x:y", expr: "rate(a)" }] }] }),
    );
    expect(run("check", "rules", "wrong.json")).toMatchObject({ status: 1 });
  });
});
