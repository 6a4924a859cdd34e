// A real neutron-server with OVN and Open vSwitch (userspace datapath) in the network namespace of the test. No Keystone and no message queue: the
// pipeline `noauth`, and a transport without a server.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePorts, hasEnded, lastLines } from "../kube/child.ts";
import { inTurn } from "./turns.ts";
import { debianPython, neutronRoot } from "./packages.ts";
import { programsIn, untilReady } from "./programs.ts";

/** A port, network or subnet of Neutron, as far as tests read it. */
export interface NeutronObject {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly mac_address: string;
  readonly mtu: number;
  readonly network_id: string;
  readonly "binding:vif_type": string;
  readonly fixed_ips: readonly { readonly ip_address: string }[];
}

/** An answer: one object or a list, by the name of its kind. */
export interface Answer {
  readonly network: NeutronObject;
  readonly subnet: NeutronObject;
  readonly port: NeutronObject;
  readonly ports: readonly NeutronObject[];
  readonly trunk: NeutronObject & {
    readonly sub_ports: readonly { readonly port_id: string; readonly segmentation_id: number }[];
  };
}

/** The running fabric. */
export interface Neutron {
  /** The network API's URL. */
  readonly url: string;
  /** OVSDB's socket of the node. */
  readonly ovsSocket: string;
  readonly directory: string;
  /** A request with its JSON answer; throws for an HTTP status of 400 or more. */
  readonly request: (method: string, path: string, body?: object) => Promise<Answer>;
  /** Runs ovs-vsctl and answers its output. */
  readonly vsctl: (...args: readonly string[]) => string;
  readonly dispose: () => Promise<void>;
}

/** Servers that are started until one binds ports, and ports that each of them may refuse to bind. */
const maxServers = 4;
const bindingTries = 20;

/** The fabric's one host. */
export interface FabricHost {
  readonly name: string;
  /** The path of the host's network namespace, whose links can become ports of its switch. Default: a new one, which has no other link. */
  readonly netns?: string | undefined;
  /** A further path of OVSDB's socket, for programs that see other directories. */
  readonly ovsSocket?: string;
}

/** Starts the servers of OVSDB: of the switch, and of OVN's two databases. */
function startDatabases({ at, run, start }: ReturnType<typeof programsIn>, shownSocket: string | undefined): void {
  const schemas = { conf: "openvswitch/vswitch", nb: "ovn/ovn-nb", sb: "ovn/ovn-sb" };
  for (const [name, schema] of Object.entries(schemas)) {
    const sockets = [at(`${name}.sock`), ...(name === "conf" && shownSocket !== undefined ? [shownSocket] : [])];
    run("ovsdb-tool", "create", at(`${name}.db`), join(neutronRoot, "usr/share", `${schema}.ovsschema`));
    start(
      "ovsdb-server",
      at(`${name}.db`),
      ...sockets.map((path) => `--remote=punix:${path}`),
      `--unixctl=${at(`${name}.ctl`)}`,
      "-vconsole:warn",
    );
  }
}

/** Starts the fabric. Resolves when Neutron answers; throws with the end of its log. */
export async function startNeutron({ name: hostName, netns, ovsSocket: shownSocket }: FabricHost): Promise<Neutron> {
  // A file system in memory: on a busy disk SQLite's lock is held for seconds, and Neutron answers HTTP 500.
  const directory = mkdtempSync("/run/plexus-neutron-");
  const programs = programsIn(directory);
  const { at, log, children, run, start, end, dispose: endPrograms } = programs;
  const dispose = async (): Promise<void> => {
    await endPrograms();
    if (netns !== undefined) removeSwitchLinks(netns);
  };
  try {
    startDatabases(programs, shownSocket);
    const ovsSocket = at("conf.sock");
    const vsctl = (...args: readonly string[]): string => run("ovs-vsctl", `--db=unix:${ovsSocket}`, "--no-wait", ...args);
    await untilReady(() => vsctl("init"), log);
    const ids = {
      "system-id": hostName,
      hostname: hostName,
      "ovn-remote": `unix:${at("sb.sock")}`,
      "ovn-encap-type": "geneve",
      "ovn-encap-ip": "127.0.0.1",
      "ovn-bridge-datapath-type": "netdev",
    };
    vsctl("set", "open", ".", ...Object.entries(ids).map(([key, value]) => `external_ids:${key}=${value}`));
    // Each switch has a bridge br-int, so that two of them cannot share a network namespace.
    const inHost = netns === undefined ? ["unshare", "--net"] : ["nsenter", `--net=${netns}`];
    const [program = "", ...args] = [...inHost, "ovs-vswitchd", `unix:${ovsSocket}`, "--disable-system", "-vconsole:warn"];
    start(program, ...args, `--unixctl=${at("vswitchd.ctl")}`);
    start(
      "ovn-northd",
      `--ovnnb-db=unix:${at("nb.sock")}`,
      `--ovnsb-db=unix:${at("sb.sock")}`,
      `--unixctl=${at("northd.ctl")}`,
      "-vconsole:warn",
    );
    start("ovn-controller", `unix:${ovsSocket}`, "-vconsole:warn");
    // Neutron binds no port to a host that is not registered yet.
    await untilReady(() => {
      if (!run("ovn-sbctl", `--db=unix:${at("sb.sock")}`, "--columns=hostname", "list", "chassis").includes(hostName)) {
        throw new Error(`host ${hostName} is not registered in OVN`);
      }
    }, log);
    const [port = 0] = await freePorts(1);
    writeSettings(directory, port);
    run(debianPython, "-c", makeTables, `sqlite:///${at("neutron.sqlite")}`);
    const url = `http://127.0.0.1:${port}`;
    const request = async (method: string, path: string, body?: object): Promise<Answer> => {
      const [status, text] = await inTurn(url, async () => {
        const answer = await fetch(`${url}/v2.0${path}`, {
          method,
          headers: { "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        return [answer.status, await answer.text()] as const;
      });
      if (status >= 400) throw new Error(`${method} ${path}: HTTP ${status} ${text}`);
      return JSON.parse(text === "" ? "{}" : text);
    };
    // Sometimes a server misses the event of the host's registration, and then binds no port for all its life. The next one reads it at its start.
    for (let left = maxServers; ; left--) {
      const server = start(debianPython, join(neutronRoot, "usr/bin/neutron-server"), "--config-file", at("neutron.conf"));
      await untilReady(async () => {
        if (children.some(hasEnded)) throw new Error(`a program of the fabric has ended: ${lastLines(log)}`);
        await request("GET", "/networks");
      }, log);
      if (await bindsPorts(request, hostName)) break;
      if (left === 1) throw new Error(`Neutron binds no port to ${hostName}: ${lastLines(log)}`);
      await end(server);
    }
    return { url, ovsSocket, directory, request, vsctl, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** The taps of ovs-vswitchd's bridges are persistent: they outlive the program. */
function removeSwitchLinks(netns: string): void {
  for (const link of ["br-int", "ovs-netdev"])
    spawnSync("nsenter", [`--net=${netns}`, "ip", "link", "delete", link], { stdio: "ignore" });
}

/** Whether Neutron binds a port to the host, tried for some seconds. */
async function bindsPorts(request: Neutron["request"], hostName: string): Promise<boolean> {
  for (let tries = 0; tries < bindingTries; tries++) {
    // In its first second a server may answer HTTP 500.
    const isBound = await probe(request, hostName).catch(() => false);
    if (isBound) return true;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return false;
}

async function probe(request: Neutron["request"], hostName: string): Promise<boolean> {
  const { network } = await request("POST", "/networks", { network: { name: "probe" } });
  try {
    const { port } = await request("POST", "/ports", { port: { network_id: network.id, "binding:host_id": hostName } });
    await request("DELETE", `/ports/${port.id}`);
    return port["binding:vif_type"] === "ovs";
  } finally {
    await request("DELETE", `/networks/${network.id}`);
  }
}

/** Alembic's migrations fail with SQLite, so the tables are made from the models. */
const makeTables = [
  "import sys, sqlalchemy",
  "from neutron.db.migration.models import head",
  "head.get_metadata().create_all(sqlalchemy.create_engine(sys.argv[1]))",
].join("\n");

function writeSettings(directory: string, port: number): void {
  const paste = readFileSync(join(neutronRoot, "usr/share/neutron-common/api-paste.ini"), "utf8");
  writeFileSync(join(directory, "api-paste.ini"), paste);
  mkdirSync(join(directory, "lock"));
  const sections = {
    DEFAULT: {
      auth_strategy: "noauth",
      core_plugin: "ml2",
      service_plugins: "trunk",
      transport_url: "fake://",
      bind_host: "127.0.0.1",
      bind_port: port,
      api_workers: 1,
      rpc_workers: 0,
      state_path: directory,
      api_paste_config: join(directory, "api-paste.ini"),
      // A busy machine's host is not dead.
      agent_down_time: 99_999_999,
      notify_nova_on_port_status_changes: "false",
      notify_nova_on_port_data_changes: "false",
    },
    database: { connection: `sqlite:///${join(directory, "neutron.sqlite")}?timeout=60` },
    oslo_concurrency: { lock_path: join(directory, "lock") },
    quotas: { quota_port: 20 },
    ml2: { type_drivers: "geneve", tenant_network_types: "geneve", mechanism_drivers: "ovn", extension_drivers: "port_security" },
    ml2_type_geneve: { vni_ranges: "1:1000", max_header_size: 38 },
    ovn: {
      ovn_nb_connection: `unix:${join(directory, "nb.sock")}`,
      ovn_sb_connection: `unix:${join(directory, "sb.sock")}`,
      ovn_metadata_enabled: "false",
    },
  };
  const text = Object.entries(sections)
    .map(([name, keys]) => [`[${name}]`, ...Object.entries(keys).map(([key, value]) => `${key} = ${value}`)].join("\n"))
    .join("\n");
  writeFileSync(join(directory, "neutron.conf"), `${text}\n`);
}
