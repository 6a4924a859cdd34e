// A node and a pod with an installation in which each call selects the native plugin or the delegate for the type `bridge`. A configuration is
// added by one backend and deleted by the other.

import { copyFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createPodNamespace, leases, type PodNamespace } from "../../../lab/namespaces.ts";
import { dist, type Answer, type Call, type Installation } from "../../../lab/plexus.ts";
import type { Scenario } from "./configurations.ts";
import { NamespaceShell } from "./namespace-shell.ts";
import { snapshot, type Snapshot } from "./snapshot.ts";

export type Backend = "native" | "wasm";

/** The parameters of an attachment's calls. */
export interface Attachment {
  readonly scenario: Scenario;
  readonly containerId: string;
  readonly ifname?: string;
  /** CNI_NETNS. Default: the lane's pod. */
  readonly netns?: string;
}

/** The answer of an ADD and the state after it. */
export interface AddOutcome {
  readonly added: Answer;
  readonly node: Snapshot;
  readonly pod: Snapshot;
}

/** Components of this installation by the plugin type that they replace. */
const components = { bridge: "bridge-adapter", "host-local": "ipam-host-local" } as const;

/** Installs native plugins, and components under the same names, as an administrator does to keep configurations unchanged. */
export function installPlugins(plexus: Installation, natives: string): void {
  for (const [type, name] of Object.entries(components)) {
    symlinkSync(join(natives, type), join(plexus.cniPath, type));
    copyFileSync(join(dist, "delegates", `${name}.wasm`), join(plexus.cniPath, `${type}.wasm`));
  }
}

/** One node with one pod. */
export class Lane {
  readonly node: PodNamespace;
  readonly pod: PodNamespace;
  readonly atNode: NamespaceShell;
  readonly atPod: NamespaceShell;
  readonly #plexus: Installation;
  readonly #name: string;
  readonly #socket: string | undefined;
  readonly #ignoredMembers: ReadonlySet<string>;
  #calls = 0;
  readonly #others: PodNamespace[] = [];
  /** Milliseconds of calls, by verb and backend. */
  readonly cost = new Map<string, number[]>();

  /** `ignoredMembers`: sysctls and members of links that snapshots omit. */
  constructor(plexus: Installation, name: string, socket?: string, ignoredMembers: readonly string[] = []) {
    this.#ignoredMembers = new Set(ignoredMembers);
    this.#plexus = plexus;
    this.#name = name;
    this.#socket = socket;
    this.node = createPodNamespace("node");
    this.pod = createPodNamespace();
    this.atNode = new NamespaceShell(this.node.path);
    this.atPod = new NamespaceShell(this.pod.path);
  }

  /** The lease directory of an attachment. */
  leaseDirectory({ containerId }: Attachment): string {
    return join(this.#plexus.directory, "leases", containerId);
  }

  /** Plexus' configuration with the scenario's network as the default network. */
  configuration(attachment: Attachment, backend: Backend): object {
    const { bridge, ipam, cniVersion } = attachment.scenario;
    const plugin = {
      type: "bridge",
      ...bridge,
      ...(ipam === undefined ? {} : { ipam: { type: "host-local", dataDir: this.leaseDirectory(attachment), ...ipam } }),
    };
    const root = join(this.#plexus.directory, "leases/");
    return {
      cniVersion,
      name: `cluster-${this.#name}`,
      type: "plexus",
      cniDir: join(this.#plexus.directory, this.#name, "state"),
      runDir: join(this.#plexus.directory, this.#name, "run"),
      wasm: {
        prefer: backend === "wasm" ? Object.keys(components) : [],
        grants: {
          bridge: {
            log: {},
            links: { bridges: ["*"], uplinks: ["*"], forwarding: true },
            delegation: { plugins: ["*"] },
            firewall: { masquerade: true },
          },
          "host-local": { log: {}, leases: { directories: ["/var/lib/cni/networks", root] }, resolver: {} },
        },
      },
      delegates: [{ cniVersion, name: "pods", plugins: [plugin] }],
    };
  }

  async call(verb: string, attachment: Attachment, backend: Backend): Promise<Answer> {
    const { containerId, ifname = "eth0", netns = this.pod.path, scenario } = attachment;
    const call: Call = {
      verb,
      containerId,
      ifname,
      netns,
      ...(scenario.args === undefined ? {} : { args: scenario.args }),
      config: this.configuration(attachment, backend),
      env: { PLEXUS_SOCKET: this.#socket },
      through: ["nsenter", `--net=${this.node.path}`, "--"],
    };
    const answer = await this.#plexus.call(call);
    const key = `${verb} ${backend}`;
    this.cost.set(key, [...(this.cost.get(key) ?? []), answer.ms]);
    return answer;
  }

  /** Prepares the scenario, sends its ADD to one backend, and answers the state after it. */
  async add(scenario: Scenario, backend: Backend): Promise<{ readonly attachment: Attachment; readonly outcome: AddOutcome }> {
    const attachment = { scenario, containerId: `${this.#name}-${this.#calls++}-${backend}` };
    await this.prepare(scenario);
    const added = await this.call("ADD", attachment, backend);
    return { attachment, outcome: { added, ...(await this.snapshots(added)) } };
  }

  /** Makes the state before the scenario's ADD. */
  async prepare({ before, inPod }: Scenario): Promise<void> {
    if (before !== "") await this.atNode.output(before);
    if (inPod !== "") await this.atPod.output(inPod);
  }

  /** Snapshots of node and pod. A label replaces the generated name in `added`. */
  async snapshots(added?: Answer): Promise<Pick<AddOutcome, "node" | "pod">> {
    const known = added === undefined ? new Map<string, string>() : generatedNames(added);
    const [node, pod] = await Promise.all([this.atNode, this.atPod].map((shell) => snapshot(shell, known, this.#ignoredMembers)));
    if (node === undefined || pod === undefined) throw new Error("two snapshots were expected");
    return { node, pod };
  }

  /** Removes state that no DEL removes: bridges, other pods and forwarding. */
  async clear(): Promise<void> {
    for (const pod of this.#others.splice(0)) pod.dispose();
    const node = `ip -br link | while read name rest; do [ $name = lo ] || ip link delete \${name%%@*} 2>/dev/null; done; echo 0 >/proc/sys/net/ipv4/ip_forward; echo 0 >/proc/sys/net/ipv6/conf/all/forwarding; true`;
    await Promise.all([this.atNode.output(node), this.atPod.output("ip link delete eth0 2>/dev/null; true")]);
  }

  /** Another pod, which `clear` deletes. */
  other(): PodNamespace {
    const pod = createPodNamespace();
    this.#others.push(pod);
    return pod;
  }

  /** The remaining leases of an attachment. */
  leases(attachment: Attachment): readonly string[] {
    return leases(this.leaseDirectory(attachment));
  }

  close(): void {
    this.atNode.close();
    this.atPod.close();
    this.node.dispose();
    this.pod.dispose();
  }
}

/** Labels of the result's generated names: the name of the node's veth end. */
function generatedNames({ json }: Answer): ReadonlyMap<string, string> {
  const known = new Map<string, string>();
  const interfaces = Array.isArray(json?.["interfaces"]) ? json["interfaces"] : [];
  for (const [index, each] of interfaces.entries()) {
    const { name }: { readonly name?: string } = each;
    if (index === 1 && name !== undefined) known.set(name, "the node's end");
  }
  return known;
}
