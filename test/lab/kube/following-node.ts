// A node whose daemon follows objects of a real API server, with a part of plexus-controller beside it, and pods of the namespace `shop` on it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { KubernetesObject } from "@kubernetes/client-node";
import { policiesPath } from "../../../features/policies/node/policy-source.ts";
import type { ApiObjects } from "../../../host/cluster/kube/api-objects.ts";
import type { MakePart } from "../../../host/controller/part.ts";
import { askDaemon } from "../../../host/node/command-line/ask-daemon.ts";
import type { CommandResult } from "../../../host/node/command-line/command.ts";
import { runCommandLine } from "../../../host/programs/plexusctl/run-command-line.ts";
import { startAgent, type TestAgent } from "../agent.ts";
import { compiledPlugin } from "../compiled.ts";
import { startDaemon, type TestDaemon } from "../daemon.ts";
import type { PodNamespace } from "../namespaces.ts";
import type { Answer } from "../plexus.ts";
import type { Attaching } from "../stage.ts";
import type { ApiServer, CreatedPod } from "./api-server.ts";
import { collectionOf, objectsOf, outcome } from "./apply.ts";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";
import { type Node, openNode } from "./node.ts";
import { partContext } from "./part-context.ts";
import { multiNetworkPolicy } from "./policy-objects.ts";
import { sharedApiServer } from "./shared-api-server.ts";

const namespace = "shop";

/** A pod of the API with its network namespace, and the call that attaches it. */
export type PodOnNode = CreatedPod & { readonly call: Attaching & { readonly pod: PodNamespace } };

/** The first address of a pod's link; empty if it has none. */
export function addressOf({ call }: PodOnNode, link = "net1"): string {
  const found = call.pod.addresses().find((each) => each.link === link);
  return found?.address.split("/")[0] ?? "";
}

/**
 * Whether echo requests from one pod to another's link are answered. The test's event loop goes on meanwhile: the proxy to the API server is on it, and a daemon
 * that learns nothing changes nothing.
 */
export async function reaches(from: PodOnNode, to: PodOnNode, link?: string): Promise<boolean> {
  const words = [`--net=${from.call.pod.path}`, "--", compiledPlugin("ping"), addressOf(to, link)];
  const [status] = await once(spawn("nsenter", words, { stdio: "ignore" }), "exit");
  return status === 0;
}

/** The node of a suite. */
export interface FollowingNodeInit {
  /** Requests of the suite and the part, as `verb resource` (ApiServerInit.alsoAllowed). */
  readonly alsoAllowed: readonly string[];
  /** Creates the kinds and rights that the daemon and the part need. */
  readonly prepare: (api: ApiServer, objects: ApiObjects) => Promise<void>;
  /** The part of plexus-controller. */
  readonly part: MakePart;
  /** The subnets of the networks of the namespace, by name: each is a bridge. */
  readonly networks: Readonly<Record<string, string>>;
  /** Keys of Plexus' configuration for each pod. */
  readonly configuration: object;
  /** Native plugins beyond those of `openNode`. */
  readonly plugins?: readonly string[];
}

/** The parts of a node that stay for its life. */
interface NodeParts {
  readonly api: ApiServer;
  readonly objects: ApiObjects;
  /** The way of the daemon to the API server. */
  readonly proxy: FaultProxy;
  readonly kubeconfig: string;
  readonly node: Node;
  readonly configuration: object;
  readonly name?: string;
}

/** The node: the daemon runs from `open` on, the agent from `startAgent` on. */
export class FollowingNode {
  readonly api: ApiServer;
  readonly objects: ApiObjects;
  readonly proxy: FaultProxy;
  readonly kubeconfig: string;
  readonly node: Node;
  /** The node's name in the API. */
  readonly name: string;
  readonly #configuration: object;
  readonly #stack = new AsyncDisposableStack();
  #daemon: TestDaemon | undefined;
  #agent: TestAgent | undefined;

  private constructor({ api, objects, proxy, kubeconfig, node, configuration, name = "node" }: NodeParts) {
    this.name = name;
    this.api = api;
    this.objects = objects;
    this.proxy = proxy;
    this.kubeconfig = kubeconfig;
    this.node = node;
    this.#configuration = configuration;
  }

  static async open(init: FollowingNodeInit): Promise<FollowingNode> {
    await using stack = new AsyncDisposableStack();
    const api = await sharedApiServer({ alsoAllowed: init.alsoAllowed });
    stack.defer(() => api.dispose());
    const objects = objectsOf(api.adminKubeconfig);
    stack.defer(() => objects.close());
    await api.namespace(namespace);
    await init.prepare(api, objects);
    const node = openNode(api, undefined, init.plugins);
    stack.defer(() => node.dispose());
    const proxy = await startFaultProxy(api);
    stack.defer(() => proxy.dispose());
    const opened = new FollowingNode({
      ...init,
      api,
      objects,
      proxy,
      kubeconfig: await proxy.kubeconfig(),
      node,
    });
    stack.defer(() => opened.stop());
    await opened.startDaemon();
    for (const [name, subnet] of Object.entries(init.networks)) await api.network(namespace, name, [node.bridge(name, subnet)]);
    const term = new AbortController();
    const controller = init.part(partContext(objects)).run(term.signal);
    stack.defer(() => {
      term.abort();
      return controller;
    });
    opened.#stack.use(stack.move());
    return opened;
  }

  /** Another node of the cluster, with a daemon of its own. Its pods reach those of the first node by no wire. */
  async beside(name: string): Promise<FollowingNode> {
    await using stack = new AsyncDisposableStack();
    const { api, objects, proxy, kubeconfig } = this;
    const node = openNode(api);
    stack.defer(() => node.dispose());
    const opened = new FollowingNode({ api, objects, proxy, kubeconfig, node, configuration: this.#configuration, name });
    stack.defer(() => opened.stop());
    await opened.startDaemon();
    opened.#stack.use(stack.move());
    return opened;
  }

  /** The daemon's socket for calls of runtimes. */
  get socket(): string {
    return join(this.node.plexus.directory, "daemon", "plexus.sock");
  }

  async startDaemon(): Promise<void> {
    const state = ["--state-dir", this.node.plexus.state("cni"), "--status-socket", this.#statusSocket];
    const args = [...state, "--node-name", this.name, "--kubeconfig", this.kubeconfig];
    this.#daemon = await startDaemon({ socket: this.socket, args });
  }

  startAgent(): void {
    const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", CNI_PATH: this.node.plexus.cniPath, PLEXUS_SOCKET: this.socket };
    this.#agent = startAgent({ command: this.node.entrance(), env });
  }

  async restartAgent(): Promise<void> {
    await this.#agent?.stop();
    this.startAgent();
  }

  /** Stops the agent, then the daemon. */
  async stop(): Promise<void> {
    await this.#agent?.stop();
    await this.#daemon?.stop();
    [this.#agent, this.#daemon] = [undefined, undefined];
  }

  /** Runs plexusctl as an administrator of the node. */
  onNode(...words: readonly string[]): Promise<CommandResult> {
    return runCommandLine([...words, "--status-socket", this.#statusSocket], false);
  }

  /** Runs plexusctl as an administrator of the cluster. */
  inCluster(...words: readonly string[]): Promise<CommandResult> {
    return runCommandLine([...words, "--kubeconfig", this.api.adminKubeconfig], false);
  }

  /** The daemon's metrics as text. */
  async metrics(): Promise<string> {
    const answer = await askDaemon({ socketPath: this.#statusSocket, method: "GET", path: "/metrics", timeoutMs: 60_000 });
    return "body" in answer ? answer.body : "";
  }

  /** Creates an object of the API, and answers it. Throws the server's refusal. */
  async create(object: KubernetesObject & Readonly<Record<string, unknown>>): Promise<unknown> {
    const made = outcome(await this.objects.create(collectionOf(object), object));
    if (typeof made === "string") throw new Error(made);
    return made;
  }

  /** Creates a MultiNetworkPolicy of the namespace. */
  async allow(name: string, spec: object, networks = "red"): Promise<void> {
    await this.create(multiNetworkPolicy(namespace, name, networks, spec));
  }

  /** Removes a MultiNetworkPolicy of the namespace. */
  async forbid(name: string): Promise<void> {
    outcome(await this.objects.remove(`${policiesPath(namespace)}/${name}`));
  }

  /** Changes labels of a pod. Throws the server's refusal. */
  async label(pod: string, labels: object): Promise<void> {
    const patched = outcome(await this.objects.patch(`/api/v1/namespaces/${namespace}/pods/${pod}`, { metadata: { labels } }));
    if (typeof patched === "string") throw new Error(patched);
  }

  /** Sends a call of the runtime for the pod's eth0. */
  request(verb: string, { call }: PodOnNode): Promise<Answer> {
    return this.node.requestAt(this.socket, verb, call);
  }

  /** Creates a pod whose ADD has not run yet. `configuration`: further keys of Plexus' configuration. */
  async createPod(name: string, labels: object, selection = "red", configuration: object = {}): Promise<PodOnNode> {
    const pod = await this.api.pod(namespace, name, selection, {}, this.name);
    await this.label(name, labels);
    const keys = { kubeconfig: this.kubeconfig, ...this.#configuration, ...configuration };
    return { ...pod, call: this.node.attaching(pod, keys) };
  }

  /** Creates a pod and attaches it. */
  async runPod(...pod: Parameters<FollowingNode["createPod"]>): Promise<PodOnNode> {
    return this.add(await this.createPod(...pod));
  }

  /** Attaches a pod. */
  async add(pod: PodOnNode): Promise<PodOnNode> {
    await this.#succeed("ADD", pod);
    return pod;
  }

  /** Detaches pods and deletes their objects. */
  async removePods(...pods: readonly PodOnNode[]): Promise<void> {
    for (const pod of pods) {
      await this.#succeed("DEL", pod);
      await this.api.deletePod(pod.namespace, pod.name);
    }
  }

  async #succeed(verb: "ADD" | "DEL", pod: PodOnNode): Promise<void> {
    const { status, stdout, stderr } = await this.request(verb, pod);
    if (status !== 0) throw new Error(`${verb} of ${pod.name} ended with status ${status}: ${stdout}${stderr}`);
  }

  async dispose(): Promise<void> {
    await this.#stack.disposeAsync();
  }

  get #statusSocket(): string {
    return join(this.node.plexus.directory, "status.sock");
  }
}
