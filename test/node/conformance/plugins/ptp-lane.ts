// A node and a pod of ptp's comparison. One half of the calls goes to native plugins, the other to components of the same names.

import { copyFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createPodNamespace, leases, type PodNamespace } from "../../../lab/namespaces.ts";
import { type Answer, dist, type Installation } from "../../../lab/plexus.ts";
import { NamespaceShell } from "../bridge/namespace-shell.ts";
import { snapshot, type Snapshot } from "../bridge/snapshot.ts";
import type { Configuration } from "./ptp-configurations.ts";

/** The plugin that serves a call: two have the same name. */
export type Backend = "native" | "wasm";

/** The component of each name. */
const components = { ptp: "ptp", static: "static", "host-local": "ipam-host-local" } as const;

/** Installs both plugins of each name into the installation's directory. */
export function installBoth({ cniPath }: Installation, native: (name: string) => string | undefined): void {
  for (const [type, component] of Object.entries(components)) {
    const found = native(type);
    if (found === undefined) throw new Error(`there is no native plugin ${type}`);
    symlinkSync(found, join(cniPath, type));
    copyFileSync(join(dist, "delegates", `${component}.wasm`), join(cniPath, `${type}.wasm`));
  }
}

/** One node with one pod. */
export class PtpLane {
  readonly node: PodNamespace = createPodNamespace("node");
  readonly pod: PodNamespace = createPodNamespace();
  readonly #beyond: PodNamespace = createPodNamespace("beyond");
  readonly #shells: readonly NamespaceShell[];
  readonly #plexus: Installation;
  readonly #socket: string;
  #attachments = 0;

  constructor(plexus: Installation, socket: string) {
    this.#plexus = plexus;
    this.#socket = socket;
    this.#shells = [this.node, this.pod].map(({ path }) => new NamespaceShell(path));
  }

  /** Makes a network beyond the node, which has no route to pods. */
  async connect(): Promise<void> {
    const [node] = this.#shells;
    await node?.output(
      `ip link add out0 type veth peer name out1 netns ${this.#beyond.name} && ip addr add 192.0.2.1/24 dev out0 && ip link set out0 up && ip -n ${this.#beyond.name} addr add 192.0.2.2/24 dev out1 && ip -n ${this.#beyond.name} link set out1 up`,
    );
  }

  /** The id of a new attachment. */
  newId(): string {
    this.#attachments += 1;
    return `c${this.#attachments}`;
  }

  get #leases(): string {
    return join(this.#plexus.directory, "leases");
  }

  call(verb: string, containerId: string, configuration: Configuration, backend: Backend): Promise<Answer> {
    const { cniVersion = "1.0.0", args, step } = configuration;
    const { ipam } = step;
    const hasLeases = typeof ipam === "object" && ipam !== null && "type" in ipam && ipam.type === "host-local";
    const config = {
      cniVersion,
      name: "node",
      type: "plexus",
      cniDir: join(this.#plexus.directory, "state"),
      runDir: join(this.#plexus.directory, "run"),
      wasm: {
        prefer: backend === "wasm" ? Object.keys(components) : [],
        // Generous, because the machine may be busy and the tests do not measure time.
        limits: { timeMs: 60_000 },
        grants: {
          ptp: {
            log: {},
            links: { networks: ["10.0.0.0/8", "fd00::/16"], forwarding: true },
            firewall: { masquerade: true },
            delegation: { plugins: ["host-local", "static"] },
          },
          static: { log: {} },
          "host-local": { log: {}, leases: { directories: [`${this.#leases}/`] }, resolver: {} },
        },
      },
      delegates: [
        {
          cniVersion,
          name: "pods",
          // Each attachment has the first address.
          plugins: [hasLeases ? { ...step, ipam: { ...ipam, dataDir: join(this.#leases, containerId) } } : step],
        },
      ],
    };
    return this.#plexus.call({
      verb,
      containerId,
      netns: this.pod.path,
      ifname: "eth0",
      config,
      ...(args === undefined ? {} : { args }),
      env: { PLEXUS_SOCKET: this.#socket },
      through: ["nsenter", `--net=${this.node.path}`, "--"],
    });
  }

  /** Node and pod, without names that a plugin chooses. */
  async snapshots(): Promise<readonly Snapshot[]> {
    const names = this.node.links().map(({ name }) => [name, name === "out0" ? name : "the node's end"] as const);
    return Promise.all(this.#shells.map((shell) => snapshot(shell, new Map(names), new Set(["txqlen"]))));
  }

  /** Whether the pod reaches the host beyond the node. */
  reachesBeyond(): boolean {
    return this.pod.ping("192.0.2.2");
  }

  /** Forgets forwarding, which no DEL switches off. Answers what should not be there: links and leases. */
  async leftovers(): Promise<readonly string[]> {
    const [node] = this.#shells;
    await node?.output("echo 0 >/proc/sys/net/ipv4/ip_forward; echo 0 >/proc/sys/net/ipv6/conf/all/forwarding");
    const links = [...this.node.links(), ...this.pod.links()].map(({ name }) => name).filter((name) => name !== "out0");
    return [...links, ...leases(this.#leases)];
  }

  close(): void {
    for (const shell of this.#shells) shell.close();
    for (const each of [this.node, this.pod, this.#beyond]) each.dispose();
  }
}
