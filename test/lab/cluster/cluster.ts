// A real cluster for tests: etcd, kube-apiserver, the scheduler, the controller manager, and nodes with containerd and the kubelet, all
// in namespaces of their own. Nothing is pulled; every process ends with the test, even after SIGKILL.
//
//     const skip = missingCluster("my suite");                      // of requirements.ts, for describe.skipIf
//     const cluster = await startCluster({ nodes: 2 });             // ServiceAccount admission, Node authorizer and NodeRestriction are on
//     const [node] = cluster.nodes;                                 // node-1: its own /etc, /opt, /var and /run, the machine's /usr read-only
//     node.installNetwork();                                        // 10-bridge.conflist; until then only pods with hostNetwork run
//     await cluster.nodesReady();
//     node.importImage("/tmp/plexus.tar");                          // an OCI layout or `docker save`; toolsImage of images.ts is there
//     await cluster.apply(toolsPod("web"));                         // pods.ts: a pod or a Deployment of toolsImage, pinned to a node or not
//     await cluster.succeed("wait", "--for=condition=Ready", "pod/web");  // kubectl; throws with stderr. cluster.kubectl(…) answers the status
//     await cluster.succeed("exec", "web", "--", "ip", "address");
//     await cluster.helm("install", "--wait", …);                   // helm, with the requirement `helm` of ../kube/helm.ts
//     await cluster.core.listNamespacedPod(…);                      // the official client
//     node.run(["crictl", …]); node.links(); node.on("/run/plexus"); node.disk;
//     await node.kubelet.stop(); await node.containerd.stop(); await node.reboot(); await cluster.stopApi();
//     await cluster.stop();
//
// A cluster with one node takes about 700 MB of memory.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { CoreV1Api, KubernetesObjectApi } from "@kubernetes/client-node";

import { adminClient } from "../kube/admin.ts";
import { kubectlBinary } from "../kube/binaries.ts";
import { helmBinary } from "../kube/helm.ts";
import { type Finished, requirePrivateNamespaces } from "../namespaces.ts";
import { type ControlPlane, startControlPlane } from "./control-plane.ts";
import { type ClusterNetwork, makeClusterNetwork } from "./network.ts";
import { type ClusterNode, type NodeChoices, startNode } from "./node.ts";

export interface ClusterInit extends NodeChoices {
  /** The number of nodes, up to 3. Default: 1. */
  readonly nodes?: number;
  /** More flags for kube-apiserver, which win over its usual ones. */
  readonly apiFlags?: readonly string[];
}

export interface Cluster extends Omit<ControlPlane, "dispose"> {
  readonly nodes: readonly [ClusterNode, ...ClusterNode[]];
  /** The official client, with all rights: objects of any kind. */
  readonly objects: KubernetesObjectApi;
  readonly core: CoreV1Api;
  /** Runs kubectl with all rights. */
  kubectl(...args: readonly string[]): Promise<Finished>;
  /** Runs kubectl with all rights and answers stdout. Throws with stderr if kubectl fails. */
  succeed(...args: readonly string[]): Promise<string>;
  /** Runs `kubectl apply` with objects, or with a text of YAML or JSON. Throws if kubectl fails. */
  apply(...manifests: readonly (object | string)[]): Promise<void>;
  /** Runs helm with all rights. */
  helm(...args: readonly string[]): Promise<Finished>;
  /** Waits until every node is Ready. Throws after two minutes. */
  nodesReady(): Promise<void>;
  /** Ends every process and removes every file of the cluster. */
  stop(): Promise<void>;
}

/** Starts a cluster. Resolves when the API server accepts pods and a kubelet runs on each node. */
export async function startCluster({ nodes: count = 1, apiFlags, ...chosen }: ClusterInit = {}): Promise<Cluster> {
  requirePrivateNamespaces();
  const directory = mkdtempSync(join(tmpdir(), "plexus-cluster-"));
  let api: ControlPlane | undefined;
  let network: ClusterNetwork | undefined;
  const nodes: ClusterNode[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.dispose()));
    await api?.dispose();
    network?.dispose();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    api = await startControlPlane(directory, apiFlags);
    network = makeClusterNetwork(api.port);
    const [plane, connected] = [api, network];
    const starting = Array.from({ length: count }, (_, index) =>
      startNode(join(directory, `node-${index + 1}`), index, plane, connected, chosen),
    );
    const started = await Promise.allSettled(starting);
    for (const each of started) if (each.status === "fulfilled") nodes.push(each.value);
    const failed = started.find((each) => each.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    const [first, ...others] = nodes;
    if (first === undefined) throw new Error("a cluster has at least one node");
    const cluster = clusterOf(api, [first, ...others], directory, stop);
    // The API server refuses pods until a controller has made their service account.
    await cluster.succeed("wait", "--for=create", "--timeout=120s", "serviceaccount/default");
    return cluster;
  } catch (error) {
    await stop();
    throw error;
  }
}

function clusterOf(api: ControlPlane, nodes: Cluster["nodes"], directory: string, stop: Cluster["stop"]): Cluster {
  const { objects, core } = adminClient(api.kubeconfig);
  const kubectl = (args: readonly string[], stdin = ""): Promise<Finished> =>
    run(kubectlBinary() ?? "kubectl", [`--kubeconfig=${api.kubeconfig}`, ...args], directory, stdin);
  const checked = async (args: readonly string[], stdin = ""): Promise<string> => {
    const { status, stdout, stderr } = await kubectl(args, stdin);
    if (status !== 0) throw new Error(`kubectl ${args.join(" ")} ended with status ${status}: ${stderr}`);
    return stdout;
  };
  return {
    ...api,
    nodes,
    objects,
    core,
    kubectl: (...args) => kubectl(args),
    succeed: (...args) => checked(args),
    async apply(...manifests) {
      const documents = manifests.map((each) => (typeof each === "string" ? each : JSON.stringify(each)));
      await checked(["apply", "-f", "-"], documents.join("\n---\n"));
    },
    helm: (...args) => run(helmBinary() ?? "helm", [...args, "--kubeconfig", api.kubeconfig], directory),
    async nodesReady() {
      const names = nodes.map(({ name }) => `node/${name}`);
      // A kubelet makes its Node object some time after its start.
      for (const state of ["create", "condition=Ready"]) {
        await checked(["wait", `--for=${state}`, "--timeout=120s", ...names]).catch((error: unknown) => {
          const logs = nodes.map(({ kubelet }) => kubelet.log().slice(-3000));
          throw new Error(`${String(error)}\n${logs.join("\n")}`, { cause: error });
        });
      }
    },
    stop,
  };
}

/** Runs a program whose caches lie in the directory `home`, and answers its output. */
function run(file: string, args: readonly string[], home: string, stdin = ""): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn("setpriv", ["--pdeathsig", "KILL", "--", file, ...args], {
      stdio: ["pipe", "pipe", "pipe"],
      // kubectl and helm collect garbage less often, which takes a sixth of their CPU time off.
      env: { PATH: process.env["PATH"], HOME: home, GOGC: "400" },
    });
    const [out, err]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    child.on("error", reject);
    child.on("close", (status) => {
      resolve({
        status: status ?? 255,
        stdout: Buffer.concat(out).toString("utf8"),
        stderr: Buffer.concat(err).toString("utf8"),
      });
    });
    child.stdin.on("error", () => {
      // The program ended without reading all of its standard input.
    });
    child.stdin.end(stdin);
  });
}
