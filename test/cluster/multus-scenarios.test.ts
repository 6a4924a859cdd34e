// The scenarios of Multus' own end-to-end tests (its folder e2e, release 4.3.0) with Plexus in its place: on two nodes with a further link each, and the
// native plugins that those scripts use. Each title has the name of the script.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { installByHand } from "../lab/cluster/by-hand.ts";
import { type Cluster, startCluster } from "../lab/cluster/cluster.ts";
import { toolsDeployment, toolsPod } from "../lab/cluster/pods.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { inHost } from "../lab/namespaces.ts";
import { missingBuild } from "../lab/plexus.ts";
import { linkType, referencePlugins } from "../lab/requires.ts";

const plugins = ["macvlan", "static", "tuning"] as const;
const skip = missingCluster("Multus' scenarios", linkType("macvlan"), referencePlugins(...plugins), () =>
  missingBuild({ components: [] }),
);
const selection = "k8s.v1.cni.cncf.io/networks";
const bridge = `ms${process.pid.toString(36)}`;
const auxiliary = "vendor-cni-chain";

/** The definition of the scripts: macvlan on the nodes' further link, with the addresses of the pod's selection. */
const definition = (name: string, ...further: readonly object[]): object => ({
  apiVersion: "k8s.cni.cncf.io/v1",
  kind: "NetworkAttachmentDefinition",
  metadata: { name, namespace: "default" },
  spec: {
    config: JSON.stringify({
      cniVersion: "0.4.0",
      plugins: [
        { type: "macvlan", capabilities: { ips: true }, master: "eth1", mode: "bridge", ipam: { type: "static" } },
        ...further,
      ],
    }),
  },
});

/** The plugin of the scripts for a chain's directory. */
const twiddle = JSON.stringify({
  cniVersion: "0.4.0",
  name: "sysctltwiddle",
  type: "tuning",
  sysctl: { "net.ipv4.conf.eth0.arp_filter": "1" },
});

/** An annotation that selects these networks. */
const select = (...elements: readonly object[]): Readonly<Record<string, string>> => ({ [selection]: JSON.stringify(elements) });

/** The default routes of `ip -4 route`, as `GATEWAY LINK`. */
const gateways = (routes: string): readonly string[] =>
  [...routes.matchAll(/^default via (\S+) dev (\S+)/gm)].map(([, gateway, link]) => `${gateway} ${link}`);

describe.skipIf(skip)("Multus' scenarios with Plexus in its place", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({ nodes: 2 });
    inHost(["ip", "link", "add", bridge, "type", "bridge"]);
    inHost(["ip", "link", "set", bridge, "up"]);
    for (const node of cluster.nodes) {
      node.installNetwork();
      for (const plugin of plugins) node.installPlugin(plugin);
      node.addLink("eth1", bridge);
    }
    await cluster.nodesReady();
    for (const node of cluster.nodes) await installByHand(cluster, node, { auxiliaryCNIChainName: auxiliary });
  }, 600_000);
  afterAll(async () => {
    await cluster?.stop();
    inHost(["ip", "link", "delete", bridge]);
  }, 300_000);

  const ready = async (...pods: readonly string[]): Promise<void> => {
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=300s", ...pods.map((name) => `pod/${name}`));
  };
  const inPod = (pod: string, ...command: readonly string[]): Promise<string> => cluster.succeed("exec", pod, "--", ...command);
  const remove = (...pods: readonly string[]): Promise<string> =>
    cluster.succeed("delete", "--timeout=300s", ...pods.map((name) => `pod/${name}`));

  test("FI-27 test-simple-pod.sh: a pod without an annotation becomes ready", async () => {
    await cluster.apply(toolsPod("simple"));
    await ready("simple");
    expect(await inPod("simple", "ip", "-o", "link")).not.toContain("net1");
    await remove("simple");
  });

  test("FI-27 test-simple-macvlan1.sh: pods of two nodes get their addresses of macvlan and reach each other", async () => {
    await cluster.apply(definition("macvlan1-config", { type: "tuning" }));
    const pods = ["macvlan1-worker1", "macvlan1-worker2"];
    await cluster.apply(
      ...pods.map((name, index) =>
        toolsPod(name, {
          node: `node-${index + 1}`,
          annotations: select({ name: "macvlan1-config", ips: [`10.1.1.1${index + 1}/24`] }),
        }),
      ),
    );
    await ready(...pods);
    for (const [index, pod] of pods.entries())
      expect(await inPod(pod, "ip", "-o", "-4", "address", "show", "dev", "net1")).toContain(` 10.1.1.1${index + 1}/24 `);
    await inPod("macvlan1-worker1", "ping", "-c", "1", "-W", "10", "-I", "net1", "10.1.1.12");
    await remove(...pods);
  });

  test("FI-27 test-static-pod.sh: a static pod gets its network", async () => {
    const [node] = cluster.nodes;
    const file = join(node.disk, "etc", "kubernetes", "manifests", "static-web.yaml");
    await cluster.apply(definition("static-pod-nad"));
    const annotations = select({ name: "static-pod-nad", ips: ["10.1.1.31/24"] });
    writeFileSync(file, JSON.stringify(toolsPod("static-web", { annotations, spec: {} })));
    // The kubelet adds the node's name.
    const pod = "static-web-node-1";
    await cluster.succeed("wait", "--for=create", "--timeout=300s", `pod/${pod}`);
    await ready(pod);
    expect(await inPod(pod, "ip", "-o", "-4", "address", "show", "dev", "net1")).toContain(" 10.1.1.31/24 ");
    rmSync(file);
    await cluster.succeed("wait", "--for=delete", "--timeout=300s", `pod/${pod}`);
  });

  test("FI-27 test-default-route1.sh: a selection's default-route is the pod's only one, and another pod keeps the cluster's", async () => {
    await cluster.apply(definition("default-route-config"));
    await cluster.apply(
      toolsPod("default-route-worker1", {
        node: "node-1",
        annotations: select({ name: "default-route-config", ips: ["10.1.1.21/24"], "default-route": ["10.1.1.254"] }),
      }),
      toolsPod("default-route-worker2", {
        node: "node-2",
        annotations: select({ name: "default-route-config", ips: ["10.1.1.22/24"] }),
      }),
    );
    await ready("default-route-worker1", "default-route-worker2");
    expect(gateways(await inPod("default-route-worker1", "ip", "-4", "route"))).toEqual(["10.1.1.254 net1"]);
    expect(gateways(await inPod("default-route-worker2", "ip", "-4", "route"))).toEqual(["10.244.1.1 eth0"]);
    await remove("default-route-worker1", "default-route-worker2");
  });

  test("FI-27 test-connection-limit.sh: six pods of a Deployment become ready at once", async () => {
    await cluster.apply(toolsDeployment("many", 6));
    await cluster.succeed("rollout", "status", "deployment/many", "--timeout=300s");
    expect(await cluster.succeed("get", "deployment/many", "-o", "jsonpath={.status.readyReplicas}")).toBe("6");
    await cluster.succeed("delete", "deployment/many", "--cascade=foreground", "--timeout=300s");
  });

  // The default network's list is named `pods`.
  test.each([
    ["FI-27 test-subdirectory-chaining.sh: a plugin of the default network's directory", "pods"],
    ["FI-27 test-subdirectory-chaining-passthru.sh: a plugin of the auxiliary chain's directory", auxiliary],
  ])("%s changes a new pod's sysctl", async (_title, directory) => {
    const place = (disk: string): string => join(disk, "etc", "cni", "net.d", directory);
    for (const { disk } of cluster.nodes) {
      mkdirSync(place(disk));
      writeFileSync(join(place(disk), "sysctltwiddle.conf"), twiddle);
    }
    const name = `sysctl-modified-${directory}`;
    await cluster.apply(toolsPod(name));
    await ready(name);
    expect(await inPod(name, "cat", "/proc/sys/net/ipv4/conf/eth0/arp_filter")).toBe("1\n");
    await remove(name);
    for (const { disk } of cluster.nodes) rmSync(place(disk), { recursive: true });
  });
});
