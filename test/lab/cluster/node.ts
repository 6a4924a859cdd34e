// A node of a cluster: a machine with containerd and a kubelet.

import { chmodSync, copyFileSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";

import { program, programPath } from "../containerd/programs.ts";
import { kubeProgram } from "../kube/binaries.ts";
import { endChild, hasEnded, lastLines } from "../kube/child.ts";
import { type Finished, inHost, inNamespace, type NamespaceCommands } from "../namespaces.ts";
import { referencePlugin } from "../requires.ts";
import type { ControlPlane } from "./control-plane.ts";
import { imageTars } from "./images.ts";
import { configureKubelet } from "./kubelet.ts";
import { type Machine, makeMachine } from "./machine.ts";
import { type ClusterNetwork, podSubnet } from "./network.ts";
import { networkPlugins } from "./requirements.ts";
import { configureRuntime, runtimeConfiguration, runtimeSocket } from "./runtime.ts";

/** A server of a node. */
export interface NodeServer {
  /** Kills the server. Containers go on. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** The text of the server's log. */
  log(): string;
}

export interface ClusterNode extends NamespaceCommands {
  readonly name: string;
  /** The node's InternalIP. */
  readonly address: string;
  /** The subnet of the default network's pods on this node. */
  readonly podSubnet: string;
  /** The test's path of the node's directory `path` or file: `on("/etc/cni/net.d")`. Mounts made on the node are visible there. */
  on(path: string): string;
  /** The test's path of the node's /etc, /opt and /var. It stays valid while the machine is cut. */
  readonly disk: string;
  /** Runs a program on the node, in all of its namespaces. Links, addresses and routes are those of the node, too. */
  run(
    command: readonly [string, ...string[]],
    init?: { readonly stdin?: Buffer | string; readonly timeoutMs?: number },
  ): Finished;
  readonly kubelet: NodeServer;
  readonly containerd: NodeServer;
  /** Installs the reference plugins `bridge`, `host-local` and `portmap`, those of `steps`, and their list `10-bridge.conflist` as the default network. */
  installNetwork(steps?: readonly NetworkStep[]): void;
  /** Gives the node a further link, whose other end is a port of the bridge `bridge` of the tests' host namespace. A reboot removes the link. */
  addLink(link: string, bridge: string): void;
  /** Copies an installed reference plugin into the node's /opt/cni/bin. */
  installPlugin(name: string): void;
  /** Writes a file of the node's /etc/cni/net.d atomically, or removes it without `text`. */
  configurationFile(name: string, text?: string): void;
  /** Imports an image: a tar of an OCI layout, or of `docker save`. */
  importImage(tar: string): void;
  /** Cuts the power and starts the machine again: processes, namespaces, mounts, links and /run are gone; /etc, /opt and /var remain. */
  reboot(): Promise<void>;
  dispose(): Promise<void>;
}

/** A further step of the default network. */
export interface NetworkStep {
  readonly type: string;
  readonly capabilities?: Readonly<Record<string, boolean>>;
}

/** The choices of a cluster for its nodes. */
export interface NodeChoices {
  /** The address of the cluster's DNS, which the kubelet gives to pods. */
  readonly clusterDns?: string;
  /** The path of containerd. Default: the distribution's. */
  readonly containerd?: string;
}

/** The names of a node's links, sorted. */
export const linkNames = (node: NamespaceCommands): readonly string[] =>
  node
    .links()
    .map(({ name }) => name)
    .toSorted();

const startMs = 60_000;

/** A command of containerd's client. */
function ctr(...args: readonly string[]): readonly [string, ...string[]] {
  return [program("ctr") ?? "ctr", "--address", runtimeSocket, "--namespace", "k8s.io", ...args];
}

/** A program of a node that writes a log. `ready` resolves when the program serves; it gets the lines since the start. */
function nodeServer(
  { machine, directory, name }: { readonly machine: Machine; readonly directory: string; readonly name: string },
  file: string,
  args: readonly string[],
  ready?: (logged: () => string) => Promise<void>,
): NodeServer {
  const log = join(directory, `${file.slice(file.lastIndexOf("/") + 1)}.log`);
  writeFileSync(log, "");
  let child: ChildProcess | undefined;
  return {
    async start() {
      const { size } = statSync(log);
      child = machine.start([file, ...args], log);
      try {
        await ready?.(() => readFileSync(log).subarray(size).toString());
      } catch (error) {
        throw new Error(`${file} on ${name} is not ready: ${String(error)}\n${lastLines(log)}`, { cause: error });
      }
      if (hasEnded(child)) throw new Error(`${file} on ${name} ended:\n${lastLines(log)}`);
    },
    async stop() {
      if (child !== undefined) await endChild(child);
    },
    log: () => readFileSync(log, "utf8"),
  };
}

/** Resolves when containerd serves. The runtime service answers after it has found the containers of before, and a kubelet that is refused ends. */
async function runtimeReady(machine: Machine, logged: () => string): Promise<void> {
  const deadline = performance.now() + startMs;
  while (!logged().includes("Start streaming server")) {
    if (performance.now() > deadline) throw new Error(machine.exec(ctr("version")).stderr);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function importOn(machine: Machine, name: string, tar: string): void {
  const imported = machine.exec(ctr("images", "import", "-"), { stdin: readFileSync(tar), timeoutMs: 300_000 });
  if (imported.status !== 0) throw new Error(`${tar} cannot be imported on ${name}: ${imported.stderr}`);
}

/** Commands in the node's network namespace, which is another one after a reboot. */
function commandsIn(path: () => string): NamespaceCommands {
  const inside = (): NamespaceCommands => inNamespace(path());
  return {
    exec: (command) => inside().exec(command),
    links: () => inside().links(),
    addresses: () => inside().addresses(),
    routes: (family) => inside().routes(family),
    ping: (ip) => inside().ping(ip),
  };
}

/** Makes the link `link` of the node, whose other end `outer` is a port of the bridge. */
function linkToBridge({ namespace }: ReturnType<ClusterNetwork["connect"]>, link: string, bridge: string, outer: string) {
  inHost(["ip", "link", "add", outer, "type", "veth", "peer", "name", link, "netns", namespace.name]);
  inHost(["ip", "link", "set", outer, "master", bridge, "up"]);
  return namespace.exec(["ip", "link", "set", link, "up"]);
}

/** The files of a node that belong to its networks. */
function networkFiles(disk: string): Pick<ClusterNode, "installPlugin" | "configurationFile"> {
  return {
    installPlugin(plugin) {
      const source = referencePlugin(plugin);
      if (source === undefined) throw new Error(`reference plugin ${plugin} is not installed`);
      const target = join(disk, "opt", "cni", "bin", plugin);
      copyFileSync(source, `${target}.new`);
      chmodSync(`${target}.new`, 0o755);
      renameSync(`${target}.new`, target);
    },
    configurationFile(file, text) {
      const path = join(disk, "etc", "cni", "net.d", file);
      if (text === undefined) return rmSync(path);
      writeFileSync(`${path}.new`, text, { mode: 0o600 });
      renameSync(`${path}.new`, path);
    },
  };
}

/** Starts node `index` (from 0). Resolves when containerd has the images and the kubelet runs. */
export async function startNode(
  directory: string,
  index: number,
  api: ControlPlane,
  network: ClusterNetwork,
  { clusterDns, containerd: runtime = program("containerd") ?? "" }: NodeChoices,
): Promise<ClusterNode> {
  const name = `node-${index + 1}`;
  const machine = makeMachine(name, directory, programPath.split(":"));
  const { cgroup, disk } = machine;
  let connected = network.connect(index);
  const { address } = connected;
  configureRuntime(disk);
  const { authority, kubeconfigOf: kubeconfig } = api;
  const kubeletArgs = configureKubelet({ name, address, disk, clusterDns, authority, cgroup, kubeconfig });
  const containerd = nodeServer({ machine, directory, name }, runtime, ["--config", runtimeConfiguration], (logged) =>
    runtimeReady(machine, logged),
  );
  const kubelet = nodeServer({ machine, directory, name }, kubeProgram("kubelet") ?? "", kubeletArgs);
  const importImage = (tar: string): void => importOn(machine, name, tar);
  const { installPlugin, configurationFile } = networkFiles(disk);
  const boot = async (): Promise<void> => {
    await machine.boot(connected.namespace);
    await containerd.start();
  };
  const dispose = async (): Promise<void> => {
    await machine.dispose();
    connected.namespace.dispose();
  };
  try {
    await boot();
    for (const tar of imageTars()) importImage(tar);
    await kubelet.start();
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    name,
    address,
    podSubnet: podSubnet(index),
    on: (path) => machine.path(path),
    disk,
    run: (command, init) => machine.exec(command, init),
    kubelet,
    containerd,
    ...commandsIn(() => connected.namespace.path),
    installNetwork(steps = []) {
      for (const plugin of [...networkPlugins, ...steps.map(({ type }) => type)]) installPlugin(plugin);
      configurationFile("10-bridge.conflist", bridgeList(podSubnet(index), steps));
    },
    addLink(link, bridge) {
      const { status, stderr } = linkToBridge(connected, link, bridge, `${bridge}n${index + 1}`);
      if (status !== 0) throw new Error(`${link} on ${name}: ${stderr}`);
    },
    installPlugin,
    configurationFile,
    importImage,
    async reboot() {
      await machine.cut();
      connected.namespace.dispose();
      connected = network.connect(index);
      await boot();
      await kubelet.start();
    },
    dispose,
  };
}

/** The list of the default network, as an administrator writes it for the reference plugins. */
function bridgeList(subnet: string, steps: readonly NetworkStep[]): string {
  const ipam = { type: "host-local", ranges: [[{ subnet }]], routes: [{ dst: "0.0.0.0/0" }] };
  const plugins = [
    { type: "bridge", bridge: "cni0", isGateway: true, hairpinMode: true, ipam },
    { type: "portmap", capabilities: { portMappings: true } },
    ...steps,
  ];
  return JSON.stringify({ cniVersion: "1.0.0", name: "pods", plugins }, null, 2);
}
