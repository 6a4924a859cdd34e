// The chart's list of components on a real cluster: pulled from Debian's docker-registry with TLS and a password, used by pods, replaced, refused
// and removed.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { Cluster } from "../lab/cluster/cluster.ts";
import type { ClusterNode } from "../lab/cluster/node.ts";
import { toolsPod } from "../lab/cluster/pods.ts";
import { clusterWithImage } from "../lab/cluster/ready-cluster.ts";
import { deployPlexus, explained } from "../lab/cluster/release.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { storage } from "../lab/cluster/storage.ts";
import { apiAddress } from "../lab/kube/address.ts";
import { helm } from "../lab/kube/helm.ts";
import { dist, missingBuild } from "../lab/plexus.ts";
import { attachBundle, ComponentNode, sha256 } from "../lab/registry/component-node.ts";
import { dsseBundle, makeSigningKey, signStatement } from "../lab/registry/cosign-bundle.ts";
import { dockerRegistry } from "../lab/registry/programs.ts";
import { basicUser, type Registry, startRegistry } from "../lab/registry/registry.ts";

const skip = missingCluster("components on a cluster", helm, dockerRegistry, () =>
  missingBuild({ components: ["ipam-host-local"] }),
);
/** The plugin type in the cluster, which is no shipped component's. */
const type = "my-ipam";
const manifestType = "application/vnd.oci.image.manifest.v1+json";

/** One version in the registry. */
interface Pushed {
  /** Digest of the component's bytes. */
  readonly digest: string;
  readonly manifestDigest: string;
}

describe.skipIf(skip)("the chart's components", () => {
  let cluster: Cluster;
  let node: ClusterNode;
  let author: ComponentNode;
  /** For the author: without TLS, on the loopback interface. */
  let local: Registry;
  /** For the nodes: the same content. */
  let remote: Registry;
  let versions: readonly [Pushed, Pushed];
  const key = makeSigningKey();

  beforeAll(async () => {
    author = new ComponentNode();
    local = await startRegistry({ directory: author.directory });
    const component = readFileSync(join(dist, "delegates", "ipam-host-local.wasm"));
    versions = [await push("1", component), await push("2", withSection(component))];
    cluster = await clusterWithImage();
    [node] = cluster.nodes;
    const tls = cluster.authority.issue("registry", { commonName: "registry", alternativeNames: [`IP:${apiAddress}`] });
    remote = await startRegistry({ directory: author.directory, address: apiAddress, tls, auth: "basic" });
    const auths = { [remote.host]: basicUser };
    await cluster.apply({
      apiVersion: "v1",
      kind: "Secret",
      type: "kubernetes.io/dockerconfigjson",
      metadata: { name: "registry", namespace: "kube-system" },
      stringData: { ".dockerconfigjson": JSON.stringify({ auths }) },
    });
  }, 1_800_000);
  afterAll(async () => {
    await cluster?.stop();
    await remote?.dispose();
    await local?.dispose();
    author?.dispose();
  });

  /** Pushes a version, and its signature as cosign does. */
  async function push(tag: string, component: Buffer): Promise<Pushed> {
    const file = author.file(`${tag}.wasm`, component);
    const plain = ["--plain-http", local.host, "-o", "json"];
    const { status, stdout, stderr } = await author.run("push", file, `${local.host}/team/${type}:${tag}`, ...plain);
    if (status !== 0) throw new Error(stderr);
    const pushed: Pushed = JSON.parse(stdout);
    const path = `http://${local.host}/v2/team/${type}/manifests/${tag}`;
    const manifest = await (await fetch(path, { headers: { Accept: manifestType } })).text();
    await attachBundle(local.host, `team/${type}`, dsseBundle(key, signStatement(pushed.manifestDigest)), manifest);
    return pushed;
  }

  /** The values of the chart with this list. No component without the team's signature may run on the node. */
  function values(components: readonly object[]): readonly string[] {
    const more = {
      components,
      componentKeys: { team: key.pem },
      componentsPullSecret: "registry",
      componentsAuthority: readFileSync(cluster.authority.certificate, "utf8"),
      wasm: { keys: { team: key.pem }, require: { signedBy: ["team"] } },
    };
    return Object.entries(more).flatMap(([name, value]) => ["--set-json", `${name}=${JSON.stringify(value)}`]);
  }

  const onNode = (name: string): string => join(node.disk, "opt", "cni", "bin", name);
  const installed = (): string => sha256(readFileSync(onNode(`${type}.wasm`)));
  const lock = (): { readonly components: readonly object[] } =>
    JSON.parse(readFileSync(join(node.disk, "etc", "plexus", "components.lock.json"), "utf8"));

  /** The messages with which the init containers of Plexus' pods ended. */
  async function refusals(): Promise<string> {
    const labelSelector = "app.kubernetes.io/name=plexus";
    const { items } = await cluster.core.listNamespacedPod({ namespace: "kube-system", labelSelector });
    const ended = items.flatMap(({ status }) => status?.initContainerStatuses ?? []);
    return ended.map(({ state, lastState }) => (state?.terminated ?? lastState?.terminated)?.message ?? "").join("\n");
  }

  /** Starts a pod whose further network has an address from the component, and deletes it. */
  async function usePod(name: string): Promise<void> {
    await cluster.apply(toolsPod(name, { annotations: { "k8s.v1.cni.cncf.io/networks": "storage@data0" } }));
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=120s", `pod/${name}`).catch(async (error: unknown) => {
      throw new Error(`${String(error)}\n${await explained(cluster)}`, { cause: error });
    });
    const address = await cluster.succeed("exec", name, "--", "ip", "-o", "-4", "address", "show", "dev", "data0");
    expect(address).toMatch(/ 10\.20\.0\.\d+\/24 /);
    await cluster.succeed("delete", "pod", name, "--timeout=120s");
  }

  test("E-13: a listed and signed component is installed before the daemon starts, and a pod uses it", async () => {
    const reference = `${remote.host}/team/${type}:1`;
    await deployPlexus(cluster, "install", "v1", ...values([{ type, reference, signedBy: "team" }]));
    expect(installed()).toBe(versions[0].digest);
    expect(lock().components).toMatchObject([{ type, digest: versions[0].digest, signer: "team", source: reference }]);
    const { spec, ...definition } = storage;
    await cluster.apply({ ...definition, spec: { config: spec.config.replace("ipam-host-local", type) } });
    await usePod("first");
  });

  test("E-13: an upgrade to another digest replaces the component", async () => {
    const reference = `${remote.host}/team/${type}@${versions[1].manifestDigest}`;
    await deployPlexus(cluster, "upgrade", "v1", ...values([{ type, reference }]));
    expect(installed()).toBe(versions[1].digest);
    expect(lock().components).toMatchObject([{ type, digest: versions[1].digest, manifestDigest: versions[1].manifestDigest }]);
    await usePod("second");
  });

  test("E-14: a wrong digest ends the init container with its reason, and the node keeps its component", async () => {
    const wrong = { type, reference: `${remote.host}/team/${type}:1`, digest: sha256("another component") };
    const image = ["--reuse-values", "--timeout", "15s"];
    const chart = join(dist, "..", "deploy", "helm", "plexus");
    const upgrade = await cluster.helm("upgrade", "plexus", chart, "--namespace", "kube-system", ...image, ...values([wrong]));
    expect(upgrade.status).toBe(1);
    const reason = `${type}: .*the component is ${versions[0].digest}, but the list demands ${wrong.digest}.*COMPONENT_DIGEST_DIFFERS`;
    await expect.poll(refusals).toMatch(new RegExp(reason, "s"));
    expect(installed()).toBe(versions[1].digest);
    expect(lock().components).toMatchObject([{ digest: versions[1].digest }]);
    // One-shot engines serve the calls of a node whose daemon can't start.
    await usePod("third");
  });

  test("E-13: an empty list removes the component with its signatures", async () => {
    await deployPlexus(cluster, "upgrade", "v1", ...values([]));
    expect([`${type}.wasm`, `${type}.wasm.signatures.json`].filter((name) => existsSync(onNode(name)))).toEqual([]);
    expect(existsSync(onNode("ipam-host-local.wasm"))).toBe(true);
    expect(lock().components).toEqual([]);
  });
});

/** A component with other bytes that does the same: it ends with a custom section. */
function withSection(component: Buffer): Buffer {
  const [name, content] = [Buffer.from("version"), Buffer.from("2")];
  const body = Buffer.concat([Buffer.from([name.length]), name, content]);
  return Buffer.concat([component, Buffer.from([0, body.length]), body]);
}
