// A real container runtime with pods and networks of a real Kubernetes API.

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { ApiServer, CreatedPod } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { missing } from "../lab/requires.ts";
import { bridgeStep, shaperStep } from "../lab/mixed-network.ts";
import { nothing } from "../lab/stage.ts";
import { openCriNode, type CriNode, type Sandbox } from "../lab/containerd/cri-node.ts";
import { distributions, installation, missingRuntime } from "../lab/containerd/runtimes.ts";

const suite = "pods of a container runtime with a Kubernetes API";
const skip = [missingRuntime(suite, distributions), missing(suite, kubeApi)].includes(true);

describe.skipIf(skip)("in a container runtime with a Kubernetes API", () => {
  let api: ApiServer;
  let node: CriNode;
  beforeAll(async () => {
    api = await sharedApiServer();
    node = await openCriNode(distributions.path(), installation);
    api.connect(node.stage.node);
    await node.configure(node.stage.network([bridgeStep(), shaperStep], { kubeconfig: api.plexus }));
  });
  afterAll(async () => {
    await node?.dispose();
    await api?.dispose();
  });

  const run = ({ name, uid, namespace }: CreatedPod): Promise<Sandbox> => node.run(name, { metadata: { name, uid, namespace } });
  test("N1-36 runs pods that select networks, publishes their status, and undoes all attachments without the API server", async () => {
    const both = { type: "ipam-host-local", ranges: [[{ subnet: "10.20.0.0/24" }], [{ subnet: "fd00:20::/64" }]] };
    await api.network("shop", "storage", [{ type: "bridge", bridge: "br-storage", ipam: both }]);
    const web = await run(await api.pod("shop", "web", "storage"));
    const database = await run(await api.pod("shop", "db", [{ name: "storage", interface: "data0" }]));
    expect(await api.statusOf("shop", "db")).toMatchObject([
      { name: "pods", interface: "eth0", default: true, ips: database.ips },
      { name: "shop/storage", interface: "data0", ips: ["10.20.0.3", "fd00:20::3"] },
    ]);
    for (const ip of [...database.ips, "10.20.0.3", "fd00:20::3"])
      await expect.poll(() => web.ping(ip), { message: ip }).toBe(true);

    await api.stop();
    for (const sandbox of [web, database]) await node.remove(sandbox);
    expect(node.stage.left()).toEqual(nothing);
    await api.start();
  });

  test("MO-04 RunPodSandbox of a replaced pod fails and leaves nothing", async () => {
    const old = await api.pod("shop", "twin");
    await api.deletePod("shop", "twin");
    await api.pod("shop", "twin");
    await expect(run(old)).rejects.toThrow(/shop\/twin/);
    expect(node.stage.left()).toEqual(nothing);
  });
});
