// A node for tests of pools: an installation, its state directory, and a daemon under a node's name. The runtime's calls attach nothing but addresses.

import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readAddress } from "../../src/net/ip.ts";
import { startDaemon, type TestDaemon } from "../lab/daemon.ts";
import { type Answer, type Call, type Installation, installPlexus } from "../lab/plexus.ts";

/** A node with a daemon. */
export interface PoolNode {
  readonly name: string;
  readonly plexus: Installation;
  /** A call as a runtime sends it. */
  request(verb: string, containerId: string, more?: PoolCall): Call;
  /** Sends a call as a runtime does. */
  call(verb: string, containerId: string, more?: PoolCall): Promise<Answer>;
  /** The addresses of the pool's leases on this node. */
  leases(pool: string): readonly string[];
  /** Ends the daemon by SIGKILL. */
  kill(): Promise<void>;
  /** Starts the daemon. */
  start(): Promise<void>;
  /** The daemon; undefined while none runs. */
  daemon(): TestDaemon | undefined;
  dispose(): Promise<void>;
}

/** The differences between calls. */
export interface PoolCall {
  /** Default: `storage`. */
  readonly pool?: string;
  /** Further keys of the IPAM configuration. */
  readonly ipam?: object;
  readonly network?: string;
  readonly grants?: object;
  readonly config?: object;
}

/** Settings of a node's daemon. */
export interface PoolNodeInit {
  /** Components besides ipam-host-local. */
  readonly components?: readonly string[];
  /** Reference plugins. Default: none. */
  readonly native?: readonly string[];
  readonly sandboxes?: number;
  /** Further arguments of Node, before the daemon's program. */
  readonly nodeArgs?: readonly string[];
  /** The daemon's environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Opens a node whose calls use the pools of an API server. */
export async function openPoolNode(
  name: string,
  kubeconfig: string,
  { sandboxes = 2, nodeArgs = [], env = {}, components = [], native = [] }: PoolNodeInit = {},
): Promise<PoolNode> {
  const plexus = installPlexus({ native, components: ["ipam-host-local", ...components] });
  const cniDir = plexus.state("cni");
  const runDir = plexus.state("run");
  const socket = join(plexus.runState("daemon"), "plexusd.sock");
  let daemon: TestDaemon | undefined;
  const start = async (): Promise<void> => {
    const args = ["--node-name", name, "--state-dir", cniDir, "--sandboxes", String(sandboxes)];
    const statusSocket = join(plexus.directory, "status.sock");
    const allArgs = [...args, "--status-socket", statusSocket, "--reconcile-interval", "0"];
    daemon = await startDaemon({ socket, nodeArgs, env, args: allArgs });
  };
  const request: PoolNode["request"] = (
    verb,
    containerId,
    { pool = "storage", ipam = {}, network = "pods", grants, config = {} } = {},
  ) => ({
    verb,
    containerId,
    netns: "/run/netns/none",
    ifname: "eth0",
    env: { PLEXUS_SOCKET: socket },
    config: {
      cniVersion: "1.1.0",
      name: network,
      type: "plexus",
      cniDir,
      runDir,
      kubeconfig,
      wasm: { grants: { "ipam-host-local": grants ?? { log: {}, leases: { pools: ["*"] }, resolver: {} } } },
      delegates: [{ type: "ipam-host-local", ipam: { type: "ipam-host-local", pool, ...ipam } }],
      ...config,
    },
  });
  await start();
  return {
    name,
    plexus,
    daemon: () => daemon,
    start,
    async kill() {
      daemon?.signal("SIGKILL");
      await daemon?.ended;
      daemon = undefined;
    },
    leases(pool) {
      return namesIn(join(cniDir, "pools", pool)).filter((each) => readAddress(each) !== undefined);
    },
    request,
    call: (verb, containerId, more) => plexus.call(request(verb, containerId, more)),
    async dispose() {
      await daemon?.stop();
      plexus.dispose();
    },
  };
}

/** The addresses in an answer, without their prefix length. */
export function addressesIn({ json }: Answer): readonly string[] {
  const ips: readonly unknown[] = Array.isArray(json?.["ips"]) ? json["ips"] : [];
  return ips.map((ip) => String((ip as { readonly address?: unknown }).address).split("/", 1)[0] ?? "");
}

/** An ADD that is repeated as a runtime does, until it succeeds; answers the addresses. */
export async function addUntilDone(node: PoolNode, pool: string): Promise<readonly string[]> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await new Promise((resolve) => setTimeout(resolve, 100))) {
    const container = randomUUID();
    const added = await node.call("ADD", container, { pool });
    if (added.status === 0) return addressesIn(added);
    // The runtime removes what it could not attach.
    await node.call("DEL", container, { pool });
  }
  throw new Error(`no ADD on ${node.name} within a minute`);
}

/** The text of a lease. */
export function leaseText(node: PoolNode, pool: string, address: string): string {
  return readFileSync(join(node.plexus.state("cni"), "pools", pool, address), "utf8");
}

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
