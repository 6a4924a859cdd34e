// A node, a pod and a neighbour on the node's bridge, and a host outside, each a network namespace. A world is small enough
// to have two: one for the native plugins and one for Plexus.

import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { text } from "node:stream/consumers";
import { createPodNamespace, inHost, type PodNamespace } from "../../../lab/namespaces.ts";
import type { Heard, Probe, Served } from "./sockets.ts";

export type Place = "node" | "pod" | "neighbour" | "outside";

/** A probe and the place that sends it. */
export interface PlacedProbe extends Probe {
  readonly from: Place;
}

/** The addresses of each place, the same in every world. */
export const addresses = {
  /** The pod's addresses, in the bridge's networks. */
  pod: ["10.1.0.5/24", "fd00:1::5/64"],
  neighbour: ["10.1.0.6/24", "fd00:1::6/64"],
  bridge: ["10.1.0.1/24", "fd00:1::1/64"],
  node: ["192.0.2.1/24", "192.0.2.3/24", "2001:db8::1/64", "2001:db8::3/64"],
  outside: ["192.0.2.2/24", "2001:db8::2/64"],
} as const;

const program = fileURLToPath(new URL("sockets.ts", import.meta.url));

export class World {
  readonly node: PodNamespace;
  readonly pod: PodNamespace;
  readonly #others: { readonly neighbour: PodNamespace; readonly outside: PodNamespace };
  readonly #servers: ChildProcess[] = [];

  constructor(name: string) {
    this.node = createPodNamespace(`${name}-node`);
    this.pod = createPodNamespace(`${name}-pod`);
    this.#others = { neighbour: createPodNamespace(`${name}-near`), outside: createPodNamespace(`${name}-far`) };
    const { neighbour, outside } = this.#others;
    const [node, commands] = [this.node.name, [] as string[]];
    const address = (of: string, link: string, all: readonly string[]): void =>
      void commands.push(...all.map((one) => `ip -n ${of} address add ${one} dev ${link}${one.includes(":") ? " nodad" : ""}`));
    const pair = (link: string, at: PodNamespace, all: readonly string[]): void => {
      commands.push(
        `ip -n ${node} link add ${link} type veth peer name eth0 netns ${at.name}`,
        `ip -n ${node} link set ${link} up`,
      );
      commands.push(`ip -n ${at.name} link set eth0 up`);
      address(at.name, "eth0", all);
    };
    commands.push(`ip -n ${node} link add br0 type bridge`, `ip -n ${node} link set br0 up`);
    address(node, "br0", addresses.bridge);
    pair("pod0", this.pod, addresses.pod);
    pair("near0", neighbour, addresses.neighbour);
    pair("far0", outside, addresses.outside);
    address(node, "far0", addresses.node);
    commands.push(`ip -n ${node} link set pod0 master br0`, `ip -n ${node} link set near0 master br0`);
    // If bridges pass packets through netfilter (br_netfilter), the pod reaches itself only if its bridge port is in hairpin mode.
    commands.push(`ip -n ${node} link set pod0 type bridge_slave hairpin on`);
    for (const { name: of } of [this.pod, neighbour])
      commands.push(`ip -n ${of} route add default via 10.1.0.1`, `ip -n ${of} -6 route add default via fd00:1::1`);
    commands.push(`ip -n ${outside.name} route add 10.1.0.0/24 via 192.0.2.1`);
    commands.push(`ip -n ${outside.name} -6 route add fd00:1::/64 via 2001:db8::1`);
    const settings = ["net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding"].map((key) => `echo 1 >/proc/sys/${key}`);
    commands.push(`nsenter --net=${this.node.path} sh -c '${settings.join("; ")}'`);
    inHost(["sh", "-ec", commands.join("\n")]);
  }

  /** Starts a server at a place, on ports of both families. */
  async serve(at: Place, ports: Served): Promise<void> {
    await this.start(at, "serve", ports);
  }

  /** Starts a program of sockets.ts and waits for its `ready`. `dispose` ends it. */
  async start(at: Place, role: "serve" | "hear", argument: Served | Heard): Promise<ChildProcess> {
    const child = runIn(this.at(at), role, JSON.stringify(argument));
    this.#servers.push(child);
    await new Promise<void>((ready, failed) => {
      child.stdout?.once("data", () => ready());
      child.once("exit", (status) => failed(new Error(`the server in ${at} ended with ${status}`)));
    });
    return child;
  }

  /** Sends all probes at once. Returns the answers in the order of the probes; empty if none came within the time. */
  async probe(probes: readonly PlacedProbe[], milliseconds: number): Promise<readonly string[]> {
    const answers: string[] = [];
    const places = [...new Set(probes.map(({ from }) => from))];
    await Promise.all(
      places.map(async (place) => {
        const placeProbes = [...probes.entries()].filter(([, { from }]) => from === place);
        const placeAnswers = await probeIn(
          this.at(place),
          placeProbes.map(([, probe]) => probe),
          milliseconds,
        );
        for (const [position, [index]] of placeProbes.entries()) answers[index] = placeAnswers[position] ?? "";
      }),
    );
    return answers;
  }

  at(place: Place): PodNamespace {
    return place === "node" ? this.node : place === "pod" ? this.pod : this.#others[place];
  }

  dispose(): void {
    for (const server of this.#servers) server.kill("SIGKILL");
    for (const { dispose } of [this.node, this.pod, ...Object.values(this.#others)]) dispose();
  }
}

/** Runs a program of sockets.ts in a namespace. */
export function runIn(at: Pick<PodNamespace, "path">, ...programArguments: readonly string[]): ChildProcess {
  return spawn("nsenter", [`--net=${at.path}`, process.execPath, program, ...programArguments], {
    stdio: ["pipe", "pipe", "inherit"],
  });
}

/** Sends all probes from a namespace at once. Returns the answers in order; empty if none came within the time. */
export async function probeIn(
  at: Pick<PodNamespace, "path">,
  probes: readonly Probe[],
  milliseconds: number,
): Promise<readonly string[]> {
  const child = runIn(at, "probe", String(milliseconds));
  child.stdin?.end(JSON.stringify(probes));
  return JSON.parse(child.stdout === null ? "[]" : await text(child.stdout));
}
