// The pod in which `kubectl plexus` executes, found by the real kubectl on a real API server: the release's own, and never a tenant's.

import { execFileSync } from "node:child_process";
import { type V1Pod, AppsV1Api } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AskKubectl, plexusPodOn, usualRelease } from "../../host/programs/kubectl-plexus/find-pod.ts";
import { adminClient, type AdminClient } from "../lab/kube/admin.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { kubeApi, kubectlBinary, kubePrograms } from "../lab/kube/binaries.ts";
import { clientConfig } from "../lab/kube/client-config.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";

const label = { "app.kubernetes.io/name": "plexus" };

describe.skipIf(missing("kubectl plexus", privateNamespaces, kubeApi, kubePrograms("kubectl")))("kubectl plexus", () => {
  let api: ApiServer;
  let admin: AdminClient;
  let apps: AppsV1Api;
  const ask: AskKubectl = async (args) =>
    execFileSync(kubectlBinary() ?? "", ["--kubeconfig", api.adminKubeconfig, ...args], { encoding: "utf8", stdio: "pipe" });

  /** Creates a DaemonSet with the label of Plexus; answers its uid. */
  async function createSet(namespace: string, name: string, labels = label): Promise<string> {
    const spec = {
      selector: { matchLabels: label },
      template: {
        metadata: { labels: label },
        spec: { serviceAccountName: name, containers: [{ name: "plexusd", image: "none" }] },
      },
    };
    const { metadata } = await apps.createNamespacedDaemonSet({ namespace, body: { metadata: { name, labels }, spec } });
    return metadata?.uid ?? "";
  }

  interface Made {
    readonly namespace: string;
    readonly name: string;
    readonly node: string;
    readonly account: string;
    readonly owner?: { readonly name: string; readonly uid: string; readonly controller?: boolean };
  }
  async function createRunning({ namespace, name, node, account, owner }: Made): Promise<void> {
    const ownerReferences = owner === undefined ? [] : [{ apiVersion: "apps/v1", kind: "DaemonSet", controller: true, ...owner }];
    const body: V1Pod = {
      metadata: { name, namespace, labels: label, ownerReferences },
      spec: {
        nodeName: node,
        serviceAccountName: account,
        automountServiceAccountToken: false,
        containers: [{ name: "plexusd", image: "evil" }],
      },
    };
    await admin.core.createNamespacedPod({ namespace, body });
    const status = [{ op: "add", path: "/status/phase", value: "Running" }];
    await admin.core.patchNamespacedPodStatus({ name, namespace, body: status });
  }

  beforeAll(async () => {
    api = await sharedApiServer();
    admin = adminClient(api.adminKubeconfig);
    apps = clientConfig(api.adminKubeconfig).makeApiClient(AppsV1Api);
    for (const name of ["a-tenant", "network"]) await api.namespace(name);
  });
  afterAll(() => api?.dispose());

  test("FI-06: without the release's DaemonSet nothing is executed, and the message says how to name the release", async () => {
    await createRunning({ namespace: "a-tenant", name: "trap", node: "node-a", account: "default" });
    await expect(plexusPodOn(ask, "node-a", usualRelease)).rejects.toThrow(
      /there is no DaemonSet kube-system\/plexus.*--plexus-namespace NAMESPACE --plexus-release NAME/u,
    );
  });

  test("FI-06: a tenant's pod with the label, also of a tenant's DaemonSet, is not taken", async () => {
    const uid = await createSet("kube-system", "plexus");
    const tenants = await createSet("a-tenant", "plexus");
    await createRunning({
      namespace: "a-tenant",
      name: "a",
      node: "node-b",
      account: "plexus",
      owner: { name: "plexus", uid: tenants },
    });
    await createRunning({ namespace: "a-tenant", name: "b", node: "node-b", account: "plexus", owner: { name: "plexus", uid } });
    await expect(plexusPodOn(ask, "node-b", usualRelease)).rejects.toThrow(
      "no pod of the DaemonSet kube-system/plexus runs on node node-b",
    );
    await createRunning({
      namespace: "kube-system",
      name: "own",
      node: "node-b",
      account: "plexus",
      owner: { name: "plexus", uid },
    });
    expect(await plexusPodOn(ask, "node-b", usualRelease)).toEqual({ namespace: "kube-system", name: "own" });
  });

  test("FI-06: in the release's namespace the pod must belong to the DaemonSet by uid, as its controller, with its service account", async () => {
    const release = { namespace: "network", name: "px" };
    const uid = await createSet("network", "px");
    const pods: readonly Omit<Made, "namespace" | "node">[] = [
      { name: "bare", account: "px" },
      { name: "named", account: "px", owner: { name: "px", uid: "another" } },
      { name: "owned", account: "px", owner: { name: "px", uid, controller: false } },
    ];
    for (const each of pods) await createRunning({ namespace: "network", node: "node-c", ...each });
    await expect(plexusPodOn(ask, "node-c", release)).rejects.toThrow("no pod of the DaemonSet network/px");
    await createRunning({
      namespace: "network",
      name: "other-account",
      node: "node-c",
      account: "default",
      owner: { name: "px", uid },
    });
    await expect(plexusPodOn(ask, "node-c", release)).rejects.toThrow(/service account "default", and not "px".*not used/u);
  });

  test("FI-06: a DaemonSet of another program is refused", async () => {
    await createSet("network", "other", { "app.kubernetes.io/name": "other" });
    await expect(plexusPodOn(ask, "node-c", { namespace: "network", name: "other" })).rejects.toThrow("is not Plexus'");
  });
});
