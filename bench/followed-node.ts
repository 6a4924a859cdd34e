// A node with many running pods on a further network, whose tables a daemon keeps up to date from a stand-in API: for rows about policies and Services.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { startAgent, type TestAgent } from "../test/lab/agent.ts";
import { startDaemon, type TestDaemon } from "../test/lab/daemon.ts";
import type { ServedObject } from "../test/lab/kube/object-collections.ts";
import { createPodNamespace, missingPrivateNamespaces, type PodNamespace } from "../test/lab/namespaces.ts";
import { type Installation, installPlexus, missingBuild, runtimeEnvironment } from "../test/lab/plexus.ts";
import { command, referencePlugins } from "../test/lab/requires.ts";
import { type LaneCall, runAll } from "./lanes.ts";
import { cpuMs } from "./observed-daemon.ts";
import { type ObjectServerProcess, startObjectServerProcess } from "./object-server-process.ts";
import { removeLinks } from "./remove-links.ts";
import { hostConfiguration } from "./host-configuration.ts";

const native = ["bridge", "host-local"];

/** The collections of the stand-in API. */
export const paths = {
  pods: "/api/v1/pods",
  services: "/api/v1/services",
  nodes: "/api/v1/nodes",
  namespaces: "/api/v1/namespaces",
  endpoints: "/api/v1/endpoints",
  endpointSlices: "/apis/discovery.k8s.io/v1/endpointslices",
  definitions: "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions",
  policies: "/apis/k8s.cni.cncf.io/v1beta1/multi-networkpolicies",
  networkPolicies: "/apis/networking.k8s.io/v1/networkpolicies",
  addressSlices: "/apis/plexus.dev/v1alpha1/networkaddressslices",
  podNetworks: "/apis/plexus.dev/v1alpha1/podnetworks",
  podNetworkAttachments: "/apis/plexus.dev/v1alpha1/podnetworkattachments",
} as const;

/** The namespace of the pods, and their further network. */
export const [namespace, network] = ["shop", "shop/further"];

/** The reason why such a node cannot run here; undefined if it can. */
export function missingForFollowedNode(): string | undefined {
  return missingBuild() ?? missingPrivateNamespaces() ?? referencePlugins(...native)() ?? command("nft", "--version")();
}

/** A pod of the node. */
export interface FollowedPod {
  readonly name: string;
  readonly netns: PodNamespace;
}

/** The node. */
export interface FollowedNode {
  readonly api: ObjectServerProcess;
  readonly plexus: Installation;
  readonly daemon: TestDaemon;
  /** Makes a pod of the API with these labels, and its network namespace. */
  pod(name: string, labels: Readonly<Record<string, string>>): FollowedPod;
  /** The runtime's call for a pod. `settings`: keys of Plexus' configuration, such as `policies`. */
  call(verb: "ADD" | "DEL", pod: FollowedPod, containerId: string, settings: object): LaneCall;
  /** Attaches pods, several at once, with their names as container ids. */
  attach(pods: readonly FollowedPod[], settings: object): Promise<void>;
  dispose(): Promise<void>;
}

/** The definition of the pods' further network. */
function definitionOf(plugins: readonly object[]): ServedObject {
  return {
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    metadata: { namespace, name: "further" },
    spec: { config: JSON.stringify({ cniVersion: "1.0.0", name: "further", plugins }) },
  };
}

/** The object of a pod that selects the further network. */
function podObject(name: string, labels: Readonly<Record<string, string>>): ServedObject {
  const annotations = { "k8s.v1.cni.cncf.io/networks": "further" };
  const metadata = { namespace, name, uid: `uid-${name}`, labels, annotations };
  return { apiVersion: "v1", kind: "Pod", metadata, spec: { nodeName: "node" }, status: { phase: "Running" } };
}

/** Opens a node. `bridges`: two names of bridges that no other node of the run has. */
export async function openFollowedNode(bridges: readonly [string, string]): Promise<FollowedNode> {
  const plexus = installPlexus({ native });
  const directory = join(plexus.directory, "api");
  mkdirSync(directory);
  const api = await startObjectServerProcess(directory, Object.values(paths));
  const socket = join(plexus.directory, "daemon", "plexus.sock");
  const [stateDirectory, leases] = [plexus.state("lib"), plexus.state("leases")];
  const daemon = await startDaemon({
    socket,
    args: ["--state-dir", stateDirectory, "--node-name", "node", "--kubeconfig", api.kubeconfig],
  });
  const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", CNI_PATH: plexus.cniPath, PLEXUS_SOCKET: socket };
  const agent: TestAgent = startAgent({ command: join(plexus.cniPath, "plexus"), env });
  const pods: PodNamespace[] = [];
  const bridge = (index: 0 | 1, subnet: string): object => ({
    type: "bridge",
    bridge: bridges[index],
    ipam: { type: "host-local", ranges: [[{ subnet }]], dataDir: leases },
  });
  api.put(paths.definitions, definitionOf([bridge(1, "10.93.0.0/16")]));
  const call: FollowedNode["call"] = (verb, { name, netns }, containerId, settings) => {
    const config = hostConfiguration(plexus, "bench", {
      kubeconfig: api.kubeconfig,
      delegates: [{ cniVersion: "1.0.0", name: "pods", plugins: [bridge(0, "10.92.0.0/16")] }],
      ...settings,
    });
    const args = `IgnoreUnknown=1;K8S_POD_NAMESPACE=${namespace};K8S_POD_NAME=${name};K8S_POD_UID=uid-${name}`;
    const request = { verb, containerId, netns: netns.path, ifname: "eth0", args, env: { PLEXUS_SOCKET: socket } };
    return {
      program: join(plexus.cniPath, "plexus"),
      env: runtimeEnvironment(request, plexus.cniPath),
      stdin: JSON.stringify(config),
    };
  };
  return {
    api,
    plexus,
    daemon,
    call,
    pod(name, labels) {
      api.put(paths.pods, podObject(name, labels));
      const netns = createPodNamespace("bench");
      pods.push(netns);
      return { name, netns };
    },
    async attach(all, settings) {
      // The server has the pods' objects before the runtime's calls come.
      await api.takeWrites();
      await runAll(
        "attaching",
        4,
        all.map((pod) => [call("ADD", pod, pod.name, settings)]),
      );
    },
    async dispose() {
      await agent.stop();
      await daemon.stop();
      await api.dispose();
      for (const pod of pods) pod.dispose();
      removeLinks(...bridges);
      plexus.dispose();
    },
  };
}

/** Waits until the daemon has no CPU time for half a second. */
export async function settled({ daemon }: Pick<FollowedNode, "daemon">): Promise<void> {
  for (let before = -1, quiet = 0; quiet < 5;) {
    const now = cpuMs(daemon.pid);
    quiet = now - before < 10 ? quiet + 1 : 0;
    before = now;
    await sleep(100);
  }
}

/** Notices of the kernel about new elements of sets and maps in network namespaces, by nft(8). */
export class ElementNotices {
  readonly #monitors: readonly ChildProcess[];
  readonly #texts: string[];
  readonly #onData = new Set<() => void>();

  constructor(pods: readonly FollowedPod[]) {
    this.#texts = pods.map(() => "");
    this.#monitors = pods.map(({ netns }, index) => {
      const child = spawn("nsenter", [`--net=${netns.path}`, "--", "nft", "-nn", "monitor", "new", "elements"], {
        stdio: ["ignore", "pipe", "ignore"],
      });
      child.stdout.on("data", (chunk: Buffer) => {
        this.#texts[index] += chunk.toString();
        for (const each of this.#onData) each();
      });
      return child;
    });
  }

  /** Makes changes until a change has reached all monitors: nft(8) does not say when a monitor listens. Rejects after some minutes. */
  async begin(change: () => Promise<string>): Promise<void> {
    for (let tries = 1; ; tries++) {
      const text = await change();
      const isSeen = await this.all(text, undefined, 10_000).then(
        () => true,
        () => false,
      );
      if (isSeen) return;
      if (tries === 30) throw new Error(`nft monitor did not show the element ${text}`);
    }
  }

  /** Resolves when each of these network namespaces has got an element with this text. Rejects after a minute. */
  async all(text: string, indexes: readonly number[] = this.#texts.map((_, index) => index), maxMs = 60_000): Promise<void> {
    const lacking = (): readonly number[] => indexes.filter((index) => this.#texts[index]?.includes(text) !== true);
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (lacking().length > 0) return;
        end();
        resolve();
      };
      const end = (): void => {
        clearTimeout(limit);
        this.#onData.delete(look);
      };
      const limit = setTimeout(() => {
        end();
        reject(new Error(`${lacking().length} network namespaces have no element ${text} after ${maxMs} ms`));
      }, maxMs);
      this.#onData.add(look);
      look();
    });
    this.clear();
  }

  /** Forgets the notices so far. */
  clear(): void {
    for (const index of this.#texts.keys()) this.#texts[index] = "";
  }

  async stop(): Promise<void> {
    for (const child of this.#monitors) {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    }
  }
}
