// The contenders of a benchmark, as programs that a runtime would start: Plexus, or the plugins directly.

import { existsSync } from "node:fs";
import { join } from "node:path";

import { filesBelow, hostLinks, inHost, leases } from "../test/lab/namespaces.ts";
import { type Call, type Installation, runtimeEnvironment } from "../test/lab/plexus.ts";
import { isPermanent } from "../test/lab/stage.ts";
import type { LaneCall, PodNamespaces } from "./lanes.ts";

/** A pod's network: the plugin bridge with an IPAM plugin. */
export interface BridgeNetwork {
  /** The native plugin unless given. */
  readonly type?: "bridge" | "bridge-adapter";
  /** At most 15 characters. */
  readonly bridge: string;
  readonly subnet: string;
  readonly ipam: "host-local" | "ipam-host-local";
  readonly name: string;
  readonly isDefault?: boolean;
  /** `dataDir`, the directory of the leases. By default it is the plugins' default directory, in memory here. */
  readonly leases?: string;
}

/** The default directory of both IPAM plugins' leases; private in the benchmark's mount namespace. */
const leaseDirectory = "/var/lib/cni/networks";

/** The directory of a network's leases. */
export function leasesOf({ name, leases: directory = leaseDirectory }: Pick<BridgeNetwork, "name" | "leases">): string {
  return join(directory, name);
}

/** The configuration of a network's plugin. */
export function bridgePlugin(network: BridgeNetwork): Readonly<Record<string, unknown>> {
  const { type = "bridge", bridge, subnet, ipam, isDefault = true, leases: dataDir } = network;
  const leaseDirectoryKey = dataDir === undefined ? {} : { dataDir };
  return { type, bridge, isDefaultGateway: isDefault, ipam: { type: ipam, subnet, ...leaseDirectoryKey } };
}

/** Attaches and detaches pods. */
export interface Contender {
  readonly name: string;
  /** The calls that attach the pod of this number to all of its networks. */
  add(pod: number): readonly LaneCall[];
  del(pod: number): readonly LaneCall[];
  /** Leases, links and files of pods that still exist, as phrases; must be empty after the DEL of every pod. */
  left(): readonly string[];
  dispose(): void;
}

export interface ContenderInit {
  readonly name: string;
  readonly plexus: Installation;
  readonly pods: PodNamespaces;
  readonly networks: readonly BridgeNetwork[];
}

/** The networks' leases and links that still exist, as phrases. Bridges do not count. */
export function leftOf(networks: readonly BridgeNetwork[], pods: PodNamespaces): readonly string[] {
  const held = networks.flatMap((network) => leases(leasesOf(network)).map((lease) => `the address ${network.name}/${lease}`));
  const bridges = networks.map(({ bridge }) => bridge);
  const veths = hostLinks().filter(({ master }) => master !== undefined && bridges.includes(master));
  return [
    ...held,
    ...veths.map(({ name }) => `the link ${name}`),
    ...pods.links().map(({ pod, name }) => `the link ${name} of pod ${pod}`),
  ];
}

export function removeBridges(networks: readonly BridgeNetwork[]): void {
  const existing = hostLinks().map(({ name }) => name);
  for (const { bridge } of networks) if (existing.includes(bridge)) inHost(["ip", "link", "delete", bridge]);
}

/** Calls the plugins directly, one network after the other. */
export function bareContender({ name, plexus, pods, networks }: ContenderInit): Contender {
  const call = (verb: string, pod: number, index: number, network: BridgeNetwork): LaneCall => {
    const attachment = { containerId: `${name}-${pod}`, netns: pods.path(pod), ifname: index === 0 ? "eth0" : `net${index}` };
    const config = { cniVersion: "1.0.0", name: network.name, ...bridgePlugin(network) };
    return programCall(plexus, "bridge", { verb, ...attachment, config });
  };
  return {
    name,
    add: (pod) => networks.map((network, index) => call("ADD", pod, index, network)),
    del: (pod) => networks.map((network, index) => call("DEL", pod, index, network)).toReversed(),
    left: () => leftOf(networks, pods),
    dispose: () => removeBridges(networks),
  };
}

export interface MetaContenderInit extends ContenderInit {
  /** The program in the CNI_PATH. */
  readonly program: string;
  readonly config: object;
  /** CNI_ARGS of a pod. */
  readonly args?: (pod: number) => string;
  readonly env?: Readonly<Record<string, string>>;
  /** The meta plugin's state directories: files of pods in them count as left behind. */
  readonly state: readonly string[];
}

/** A meta plugin that attaches a pod to all of its networks in one call. */
export function metaContender(init: MetaContenderInit): Contender {
  const { name, plexus, pods, networks, program, config, args, env = {}, state } = init;
  const call = (verb: string, pod: number): readonly LaneCall[] => [
    programCall(plexus, program, {
      verb,
      containerId: `${name}-${pod}`,
      netns: pods.path(pod),
      ifname: "eth0",
      config,
      env,
      ...(args === undefined ? {} : { args: args(pod) }),
    }),
  ];
  return {
    name,
    add: (pod) => call("ADD", pod),
    del: (pod) => call("DEL", pod),
    left: () => [
      ...leftOf(networks, pods),
      ...state.filter((directory) => existsSync(directory)).flatMap((directory) => filesOf(directory)),
    ],
    dispose: () => removeBridges(networks),
  };
}

/** Whether a file belongs to the node, not to a container: a permanent file of Plexus, a lock of Multus, or a slot of one-shot engines. */
const isNodeFile = (path: string): boolean => isPermanent(path) || path === "locks/gc/lock" || /^one-shot\/\d+$/.test(path);

function filesOf(directory: string): readonly string[] {
  return filesBelow(directory)
    .filter((path) => !isNodeFile(path))
    .map((path) => `the file ${directory}/${path}`);
}

function programCall(plexus: Installation, program: string, call: Call): LaneCall {
  return {
    program: join(plexus.cniPath, program),
    env: runtimeEnvironment(call, plexus.cniPath),
    stdin: JSON.stringify(call.config),
  };
}
