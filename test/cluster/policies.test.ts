// Policies on a further network with the chart on a real cluster: plexus-controller, the daemon, and the agent that enters running pods.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Cluster } from "../lab/cluster/cluster.ts";
import { toolsPod } from "../lab/cluster/pods.ts";
import { clusterWithPlexus } from "../lab/cluster/ready-cluster.ts";
import { explained } from "../lab/cluster/release.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import {
  demandedTables,
  playScenario,
  removeScenarioPods,
  reportedTables,
  startScenarioPods,
} from "../lab/cluster/scenario-pods.ts";
import { helm } from "../lab/kube/helm.ts";
import { multiNetworkPolicy } from "../lab/kube/policy-objects.ts";
import { missingBuild } from "../lab/plexus.ts";
import { demanded, judgeScenario } from "../lab/policies/judge-scenario.ts";
import type { ReachServer } from "../lab/policies/reach-server.ts";
import { scenarios } from "../lab/policies/scenarios.ts";
import { command } from "../lab/requires.ts";

const skip = missingCluster("policies on a cluster", helm, command("nft", "--version"), () => missingBuild());
const soon = { timeout: 120_000, interval: 500 };
const annotations = { "k8s.v1.cni.cncf.io/networks": "storage" };

describe.skipIf(skip)("policies with the chart on a real cluster", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await clusterWithPlexus("--set", "policies.enabled=true");
  }, 400_000);
  afterAll(async () => {
    if (cluster === undefined) return;
    await cluster.kubectl("delete", "multi-networkpolicies", "--all");
    await cluster.succeed("delete", "pods", "--all", "--timeout=120s");
    await cluster.stop();
  }, 300_000);

  /** A pod on the network, with the label `app: NAME`. */
  const started = async (name: string): Promise<void> => {
    await cluster.apply(toolsPod(name, { annotations, spec: { terminationGracePeriodSeconds: 1 } }));
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=120s", `pod/${name}`);
  };
  const addressOf = async (name: string): Promise<string> => {
    const text = await cluster.succeed("exec", name, "--", "ip", "-o", "-4", "address", "show", "net1");
    return / inet ([\d.]+)\//u.exec(text)?.[1] ?? "";
  };
  const reaches = async (from: string, address: string): Promise<boolean> =>
    (await cluster.kubectl("exec", from, "--", "ping", "-c", "1", "-W", "1", address)).status === 0;

  test("PO-11 PO-12: a pod starts with its policies, and a running pod follows its peers' labels and the policies' removal", async () => {
    const fromDb = {
      podSelector: { matchLabels: { app: "web" } },
      ingress: [{ from: [{ podSelector: { matchLabels: { app: "db" } } }] }],
    };
    try {
      await cluster.apply(multiNetworkPolicy("default", "web", "storage", fromDb));
      await started("web");
      await started("other");
      const web = await addressOf("web");
      expect(await reaches("other", web)).toBe(false);
      await cluster.succeed("label", "pod", "other", "app=db", "--overwrite");
      await expect.poll(() => reaches("other", web), soon).toBe(true);
      await cluster.succeed("label", "pod", "other", "app=other", "--overwrite");
      await expect.poll(() => reaches("other", web), soon).toBe(false);
      await cluster.succeed("delete", "multi-networkpolicy", "web");
      await expect.poll(() => reaches("other", web), soon).toBe(true);
    } catch (error) {
      throw new Error(`${String(error)}\n${await explained(cluster)}`, { cause: error });
    }
  });

  describe("scenarios of multi-networkpolicy-nftables and multi-networkpolicy-iptables", () => {
    let servers: readonly ReachServer[] = [];
    beforeAll(async () => {
      servers = await startScenarioPods(cluster);
    }, 400_000);
    afterAll(async () => {
      for (const server of servers) server.stop();
      await removeScenarioPods(cluster);
    }, 300_000);

    const numbered = scenarios.map((scenario, index) => [scenario.name, scenario, `s${index}`] as const);
    test.each(numbered)("PO-21: %s", async (_, scenario, prefix) => {
      const tables = demandedTables(scenario, prefix);
      const cast = await playScenario(cluster, scenario, prefix);
      try {
        await expect.poll(() => reportedTables(cluster), soon).toEqual(tables);
        // The report has the number of a policy's peers. A peer that has changed places with another one follows a moment later.
        await expect.poll(() => judgeScenario(scenario, cast, servers), soon).toEqual(demanded(scenario));
      } catch (error) {
        throw new Error(`${String(error)}\n${await explained(cluster)}`, { cause: error });
      }
    });
  });
});
