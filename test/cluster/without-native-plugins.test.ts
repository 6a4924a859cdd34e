// The chart with `nativePlugins: none` on a node whose native plugins are removed while a pod of theirs runs.

import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { Cluster } from "../lab/cluster/cluster.ts";
import { type LeftOnNode, leftOn, nothingLeft } from "../lab/cluster/left.ts";
import { networkCommands, toolsDeployment, toolsPod } from "../lab/cluster/pods.ts";
import { clusterWithImage } from "../lab/cluster/ready-cluster.ts";
import { deployPlexus, explained, removePlexus } from "../lab/cluster/release.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { storageWith } from "../lab/cluster/storage.ts";
import { componentGrants } from "../lab/component-grants.ts";
import { type ComponentNetwork, componentNetworks } from "../lab/component-networks.ts";
import { helm } from "../lab/kube/helm.ts";
import type { NamespaceCommands } from "../lab/namespaces.ts";
import { missingBuild } from "../lab/plexus.ts";
import { missing } from "../lab/requires.ts";
import { nativePlugins } from "../lab/wasm-only.ts";

const components = ["host-local", ...Object.keys(componentGrants)];
/** The networks whose kind this kernel has. Further ones are tried in an emulated machine: test/node/attach/component-networks.test.ts. */
const kinds = componentNetworks.filter(({ type, requires = [] }) => !missing(`pods with a network of ${type}`, ...requires));
const skip = missingCluster("a cluster without native plugins", helm, () => missingBuild({ components }));

const definition = (name: string, plugins: readonly object[]): object => ({
  apiVersion: "k8s.cni.cncf.io/v1",
  kind: "NetworkAttachmentDefinition",
  metadata: { name, namespace: "default" },
  spec: { config: JSON.stringify({ cniVersion: "1.0.0", name, plugins }) },
});

const direct = definition("direct", [{ type: "ptp", ipam: { type: "host-local", subnet: "10.30.0.0/24" } }]);

/** Bridges of the networks stay on purpose until the end of the tests. */
const withoutKindBridges = ({ links, ...others }: LeftOnNode): LeftOnNode => ({
  ...others,
  links: links.filter((name) => !name.startsWith("br-kind")),
});

describe.skipIf(skip)("a node without native plugins", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await clusterWithImage();
    await cluster.apply(toolsDeployment("before", 1));
    await cluster.succeed("rollout", "status", "deployment/before", "--timeout=120s");
    await deployPlexus(
      cluster,
      "install",
      "v1",
      "--set",
      "nativePlugins=none",
      "--set-json",
      `wasm.grants=${JSON.stringify(componentGrants)}`,
    );
  }, 1_800_000);
  afterAll(async () => {
    // Other files use the same cluster.
    for (const name of ["bridge", "host-local", "portmap"]) cluster?.nodes[0].installPlugin(name);
    await cluster?.stop();
  }, 120_000);

  const binaries = (): string => join(cluster.nodes[0].disk, "opt", "cni", "bin");

  async function doctor(): Promise<string> {
    const inDaemon = ["-n", "kube-system", "exec", "daemonset/plexus", "-c", "plexusd", "--"];
    const command = ["/opt/plexus/bin/node", "/opt/plexus/plexusctl.cjs", "doctor", "-o", "json"];
    const { stdout, stderr } = await cluster.kubectl(...inDaemon, ...command);
    if (!stdout.startsWith("{")) throw new Error(stderr);
    const { checks }: { readonly checks: readonly { readonly name: string; readonly found: string }[] } = JSON.parse(stdout);
    return checks.find(({ name }) => name === "native-plugins")?.found ?? stdout;
  }

  test("has no native plugin but the loopback, which the runtime executes itself, and doctor says so", async () => {
    for (const name of ["bridge", "host-local", "portmap"]) rmSync(join(binaries(), name));
    expect(nativePlugins(binaries())).toEqual(["loopback"]);
    expect(readdirSync(binaries())).toEqual(expect.arrayContaining(components.map((name) => `${name}.wasm`)));
    expect(await doctor()).toBe("no native plugin is used by any network of this node");
  });

  test("attaches pods to the default network and to two further ones", async () => {
    await cluster.apply(storageWith("host-local"));
    await cluster.apply(direct);
    const networks = { "k8s.v1.cni.cncf.io/networks": "storage@data0, direct@direct0" };
    await cluster.apply(toolsDeployment("web", 2, { annotations: networks }));
    await cluster.succeed("rollout", "status", "deployment/web", "--timeout=120s").catch(async (error: unknown) => {
      throw new Error(`${String(error)}\n${await explained(cluster)}`, { cause: error });
    });
    const { items } = await cluster.core.listNamespacedPod({ namespace: "default", labelSelector: "app=web" });
    const [one, other] = items;
    const status = other?.metadata?.annotations?.["k8s.v1.cni.cncf.io/network-status"] ?? "[]";
    const networksOfOther: readonly { readonly interface: string; readonly ips: readonly string[] }[] = JSON.parse(status);
    expect(networksOfOther.map((each) => each.interface)).toEqual(["eth0", "data0", "direct0"]);
    for (const { ips } of networksOfOther)
      await cluster.succeed("exec", one?.metadata?.name ?? "", "--", "ping", "-c", "1", "-W", "5", ips[0] ?? "");
    expect(await doctor()).toBe("no native plugin is used by any network of this node");
  });

  describe("a pod with a network of each kind of component", () => {
    const removals: (() => Promise<void>)[] = [];
    let before: LeftOnNode;
    let pod: NamespaceCommands;
    beforeAll(async () => {
      const [node] = cluster.nodes;
      for (const { type, plugins, prepare } of kinds) {
        const remove = await prepare?.(node);
        if (remove !== undefined) removals.push(remove);
        await cluster.apply(definition(type, plugins));
      }
      before = withoutKindBridges(leftOn(node));
      const selected = kinds.map(({ type, runtimeConfig = {} }) => ({ name: type, interface: type, ...runtimeConfig }));
      await cluster.apply(toolsPod("kinds", { annotations: { "k8s.v1.cni.cncf.io/networks": JSON.stringify(selected) } }));
      await cluster.succeed("wait", "--for=condition=Ready", "--timeout=120s", "pod/kinds").catch(async (error: unknown) => {
        throw new Error(`${String(error)}\n${await explained(cluster)}`, { cause: error });
      });
      pod = networkCommands(node, await cluster.succeed("exec", "kinds", "--", "readlink", "/proc/self/ns/net"));
    }, 300_000);
    afterAll(async () => {
      for (const remove of removals) await remove();
    });

    test.each(kinds)("has what $type promises", ({ type, prove }: ComponentNetwork) => {
      expect(pod.links().map(({ name }) => name)).toContain(type);
      prove({ node: cluster.nodes[0], pod, ifname: type });
    });

    test("leaves nothing on the node when it is deleted", async () => {
      const [node] = cluster.nodes;
      expect(await doctor()).toBe("no native plugin is used by any network of this node");
      expect(nativePlugins(binaries())).toEqual(["loopback"]);
      await cluster.succeed("delete", "pod", "kinds", "--timeout=120s");
      await expect.poll(() => withoutKindBridges(leftOn(node))).toEqual(before);
      for (const { proveGone } of kinds) proveGone?.(node);
    });
  });

  test("detaches all pods, also the one that native plugins attached", async () => {
    const [node] = cluster.nodes;
    await cluster.succeed("delete", "deployment/web", "deployment/before", "--cascade=foreground", "--timeout=120s");
    await expect.poll(() => leftOn(node)).toEqual(nothingLeft);
    await removePlexus(cluster);
  });
});
