// The kubelet's readiness of a node that requires the default PodNetwork. The kubelet gets it from a container runtime that calls STATUS.

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Cluster, startCluster } from "../lab/cluster/cluster.ts";
import { importPlexus } from "../lab/cluster/plexus-image.ts";
import { deployPlexus } from "../lab/cluster/release.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { newer, newerContainerd } from "../lab/containerd/programs.ts";
import { helm } from "../lab/kube/helm.ts";
import { networkObjects } from "../lab/kube/network-objects.ts";

const skip = missingCluster("the default PodNetwork and the node's readiness", helm, newer);
/** Milliseconds after which a state that did not come is a failure. */
const patient = { timeout: 120_000, interval: 500 };

describe.skipIf(skip)("a node that requires the default PodNetwork", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({ containerd: newerContainerd() ?? "" });
    cluster.nodes[0].installNetwork();
    importPlexus(cluster.nodes, "v1");
    await cluster.nodesReady();
  }, 240_000);
  afterAll(async () => cluster?.stop());

  /** The node's condition Ready, as `STATUS MESSAGE`. */
  const readiness = (): Promise<string> => {
    const condition = '{range .status.conditions[?(@.type=="Ready")]}{.status} {.message}{end}';
    return cluster.succeed("get", "node", cluster.nodes[0].name, "-o", `jsonpath=${condition}`);
  };

  test("KE-29 KE-49: is not ready with the KEP's reason until the PodNetwork exists, and the controller runs on it meanwhile", async () => {
    const networks = { enabled: true, createDefault: false, requireDefault: true };
    // Two controllers cannot have the same port of one node.
    const controller = { replicas: 1 };
    const values = `networks=${JSON.stringify(networks)},controller=${JSON.stringify(controller)}`;
    await deployPlexus(cluster, "install", "v1", "--set-json", values);
    await expect.poll(readiness, patient).toMatch(/^False .*default PodNetwork not found in API/u);
    const controllers = ["-n", "kube-system", "get", "pods", "-l", "app.kubernetes.io/name=plexus-controller", "-o"];
    const phases = () => cluster.succeed(...controllers, "jsonpath={.items[*].status.phase}");
    await expect.poll(phases, patient).toContain("Running");

    await cluster.apply(networkObjects.podNetwork("default"));
    await expect.poll(readiness, patient).toMatch(/^True /u);
  });
});
