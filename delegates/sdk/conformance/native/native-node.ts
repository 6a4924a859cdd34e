// A node for a native plugin: a network namespace as the node's and one for each pod, in the namespaces that own-namespaces.ts made.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Skip } from "../check.ts";
import { earlierResult, hostLink, podAddress, podLink, podMac } from "../earlier-result.ts";
import type { Setup } from "../setup.ts";
import { changedKeys } from "../state-change.ts";
import type { Execution, IpamCall, Reply, State, StateKind, TestNode } from "../subject.ts";
import { addFiles, addHostState, addPodState, type LinkAttributes, stateScript } from "./kernel-state.ts";
import { KitIpam } from "./kit-ipam.ts";
import { NodeServices } from "./node-services.ts";
import { runProgram } from "./run-program.ts";

let opened = 0;
let namespaceDirectory: Promise<void> | undefined;

/** The node of one check. */
export class NativeNode implements TestNode {
  readonly stateDirectory: string;
  readonly runDirectory: string;
  readonly #plugin: string;
  readonly #setup: Setup;
  readonly #withoutNamespaces: string | undefined;
  readonly #directory: string;
  readonly #ipam: KitIpam;
  readonly #services = new NodeServices();
  readonly #name: string;
  readonly #pods = new Set<string>();
  #made = 0;

  private constructor(plugin: string, setup: Setup, withoutNamespaces: string | undefined) {
    opened += 1;
    this.#name = `kit-${process.pid}-${opened}`;
    this.#plugin = plugin;
    this.#setup = setup;
    this.#withoutNamespaces = withoutNamespaces;
    this.#directory = mkdtempSync(join(tmpdir(), "plexus-conformance-"));
    this.stateDirectory = join(this.#directory, "state");
    this.runDirectory = join(this.#directory, "run");
    for (const each of [this.stateDirectory, this.runDirectory]) mkdirSync(each);
    this.#ipam = new KitIpam(this.#directory);
  }

  /** Makes a node with the links of the set-up. */
  static async open(plugin: string, setup: Setup, withoutNamespaces: string | undefined): Promise<NativeNode> {
    const node = new NativeNode(plugin, setup, withoutNamespaces);
    if (withoutNamespaces !== undefined) {
      if (setup.services.length === 0) return node;
      await node.dispose();
      throw new Skip(`services need network namespaces: ${withoutNamespaces}`);
    }
    const links = setup.links.flatMap(({ name, addresses, kind }) => [
      // Each kernel with container networks has bridges and veths.
      `ip link add ${name} type ${kind}`,
      `ip link set ${name} up`,
      ...addresses.map((address) => `ip address add ${quoted(address)} dev ${name}`),
    ]);
    try {
      await (namespaceDirectory ??= node.#prepareDirectory());
      await node.#makeNamespace(node.#name, ["ip link set lo up", ...links]);
      const { services } = setup;
      await node.#services.start({ services, plugin, runDirectory: node.runDirectory, netns: node.#path });
      return node;
    } catch (error) {
      await node.dispose();
      throw error;
    }
  }

  async makePod(): Promise<string> {
    this.#made += 1;
    const name = `${this.#name}-${this.#made}`;
    const path = `/run/netns/${name}`;
    if (this.#withoutNamespaces !== undefined) {
      // An IPAM plugin need not open the pod's namespace.
      if (this.#setup.role === "ipam") return path;
      throw new Skip(this.#withoutNamespaces);
    }
    this.#pods.add(path);
    await this.#makeNamespace(name, []);
    const { bridge, role } = this.#setup;
    if (bridge !== undefined && role === "ipam") await this.#connect(name, path, bridge);
    if (role === "chained") await this.#makeEarlierLink(name, path);
    return path;
  }

  async removePod(netns: string): Promise<void> {
    this.#pods.delete(netns);
    if (this.#withoutNamespaces === undefined) await this.#system("ip", ["netns", "delete", netns.slice("/run/netns/".length)]);
  }

  async execute({ verb, env, stdin }: Execution): Promise<Reply> {
    const path = `${this.#ipam.pluginDirectory}:${dirname(this.#plugin)}`;
    return runProgram({
      file: this.#plugin,
      args: [],
      env: { ...env, CNI_COMMAND: verb, CNI_PATH: path },
      stdin,
      netns: this.#nodePath(),
    });
  }

  async executeAtOnce(executions: readonly Execution[]): Promise<readonly Reply[]> {
    return Promise.all(executions.map((execution) => this.execute(execution)));
  }

  async state(netns: string): Promise<State> {
    const state = new Map<string, string>();
    addFiles(state, this.stateDirectory);
    if (this.#withoutNamespaces !== undefined) return state;
    const node = this.#nodePath();
    addHostState(state, await this.#shell(node, stateScript));
    if (this.#pods.has(netns)) addPodState(state, await this.#shell(netns, stateScript));
    if (this.#pods.has(netns)) {
      for (const key of this.#sysctlKeys())
        state.set(`sysctl ${key}`, (await this.#shell(netns, `cat /proc/sys/${quoted(key)}`)).trim());
    }
    if (this.#usesFirewall()) {
      const rules = await this.#shell(node, "nft -s list ruleset 2>/dev/null || iptables-save");
      for (const [index, line] of rules.split("\n").entries()) {
        const text = line.trim();
        if (text !== "" && text !== "}" && !text.startsWith("#")) state.set(`rules ${tableOf(rules, index)} ${text}`, "");
      }
    }
    return state;
  }

  async restore(netns: string, kind: StateKind, before: State, now: State): Promise<void> {
    for (const key of changedKeys(before, now, [kind])) {
      const [, , name = "", rest = ""] = key.split(" ");
      const inPod = key.startsWith(`${kind} pod `);
      if (kind === "lease") rmSync(join(this.stateDirectory, key.slice("lease ".length)));
      else if (kind === "sysctl")
        await this.#shell(netns, `echo ${quoted(before.get(key) ?? "")} >/proc/sys/${quoted(key.slice("sysctl ".length))}`);
      else if (kind === "link" && inPod) await this.#shell(netns, `ip link delete ${quoted(name)}`);
      else if (kind === "address" && inPod) await this.#shell(netns, `ip address delete ${quoted(rest)} dev ${quoted(name)}`);
      else if (kind === "route" && inPod) await this.#shell(netns, `ip route delete ${quoted(rest)} dev ${quoted(name)}`);
      else if (kind === "attribute" && inPod) await this.#restoreAttributes(netns, name, before.get(key));
    }
    if (kind !== "rules") return;
    if (changedKeys(new Map(), before, ["rules"]).length > 0) throw new Skip("the node had rules before ADD");
    await this.#shell(this.#nodePath(), "nft flush ruleset 2>/dev/null || { iptables -t nat -F && iptables -F; }");
  }

  async ipamCalls(): Promise<readonly IpamCall[]> {
    return this.#ipam.calls();
  }

  async failIpam(verb: string): Promise<void> {
    this.#ipam.fail(verb);
  }

  async dispose(): Promise<void> {
    await this.#services.stop();
    if (this.#withoutNamespaces === undefined) {
      const names = [...this.#pods].map((path) => path.slice("/run/netns/".length));
      await runProgram({ file: "sh", args: ["-c", [...names, this.#name].map((name) => `ip netns delete ${name}`).join(";")] });
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #nodePath(): string | undefined {
    return this.#withoutNamespaces === undefined ? this.#path : undefined;
  }

  get #path(): string {
    return `/run/netns/${this.#name}`;
  }

  /** The first `ip netns add` mounts /run/netns. Two at once would mount it twice, and hide each other's namespaces. */
  async #prepareDirectory(): Promise<void> {
    const name = `${this.#name}-first`;
    await this.#system("sh", ["-c", `ip netns add ${name} && ip netns delete ${name}`]);
  }

  async #makeNamespace(name: string, commands: readonly string[]): Promise<void> {
    const inside = commands.length === 0 ? "" : ` && nsenter --net=/run/netns/${name} sh -ec ${quoted(commands.join("\n"))}`;
    await this.#system("sh", ["-c", `ip netns add ${name}${inside}`]);
  }

  /** Makes the pod's interface without an address, with its other end on a bridge. */
  async #connect(pod: string, netns: string, bridge: string): Promise<void> {
    const { ifname } = this.#setup;
    const outside = hostLink(this.#made);
    const onNode = `ip link add ${outside} type veth peer name ${ifname} netns ${pod}\nip link set ${outside} master ${bridge} up`;
    await this.#shell(this.#nodePath(), `${onNode}\nnsenter --net=${netns} ip link set ${ifname} up`);
  }

  /** Makes the veth that prevResult describes. */
  async #makeEarlierLink(pod: string, netns: string): Promise<void> {
    const name = this.#setup.ifname === "lo" ? podLink : this.#setup.ifname;
    const outside = hostLink(this.#made);
    const { routes } = earlierResult({ netns, number: this.#made }, name);
    const onNode = [`ip link add ${outside} type veth peer name ${name} netns ${pod}`, `ip link set ${outside} up`];
    const inPod = [
      `ip link set ${name} address ${podMac(this.#made)}`,
      `ip address add ${podAddress(this.#made)} dev ${name}`,
      `ip link set ${name} up`,
      ...routes.map(({ dst, gw = "" }) => `ip route add ${dst} via ${gw}`),
    ];
    await this.#shell(this.#nodePath(), [...onNode, `nsenter --net=${netns} sh -ec ${quoted(inPod.join("\n"))}`].join("\n"));
  }

  async #restoreAttributes(netns: string, name: string, text = "{}"): Promise<void> {
    const { mac, mtu, up, promiscuous, allMulticast, txQueueLength } = JSON.parse(text) as Partial<LinkAttributes>;
    const link = `ip link set dev ${quoted(name)}`;
    const commands = [
      ...(name === "lo" || mac === undefined ? [] : [`${link} address ${quoted(mac)}`]),
      `${link} mtu ${mtu ?? 1500} promisc ${onOff(promiscuous)} allmulticast ${onOff(allMulticast)} txqueuelen ${txQueueLength ?? 1000}`,
      `${link} ${up === false ? "down" : "up"}`,
    ];
    await this.#shell(netns, commands.join("\n"));
  }

  #sysctlKeys(): readonly string[] {
    const { sysctl } = this.#setup.configuration;
    return typeof sysctl === "object" && sysctl !== null
      ? Object.keys(sysctl).map((key) => (key.includes("/") ? key : key.replaceAll(".", "/")))
      : [];
  }

  #usesFirewall(): boolean {
    return /"(?:portMappings|ipMasq|macspoofchk|firewallBackend|backend)"/u.test(JSON.stringify(this.#setup.configuration));
  }

  async #shell(netns: string | undefined, script: string): Promise<string> {
    return this.#system("sh", ["-ec", script], netns);
  }

  /** Throws a Skip with the program's words if it fails: the machine lacks something. */
  async #system(file: string, args: readonly string[], netns?: string): Promise<string> {
    const { status, stdout, stderr } = await runProgram({ file, args, netns });
    if (status !== 0) throw new Skip(`the node cannot be prepared: ${stderr.trim().slice(0, 200)}`);
    return stdout;
  }
}

function onOff(value = false): string {
  return value ? "on" : "off";
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The chain that a line of a ruleset stands in: equal rules of two chains are two rules. */
function tableOf(rules: string, line: number): string {
  const header = rules
    .split("\n")
    .slice(0, line)
    .findLast((each) => /^\s*(?:chain|table|set|map) |^\*/u.test(each));
  return header?.trim().replace(/ ?\{$/u, "") ?? "";
}
