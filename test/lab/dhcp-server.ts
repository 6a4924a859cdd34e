// A real DHCP server for tests: busybox' udhcpd in a network namespace of its own, on a bridge of the node's namespace.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { busybox, unpackBusybox } from "./cluster/images.ts";
import { createPodNamespace, type NamespaceCommands, type PodNamespace } from "./namespaces.ts";
import type { Requirement } from "./requires.ts";

/** busybox with udhcpd. */
export const dhcpServer: Requirement = () => {
  const failure = unpackBusybox();
  if (failure !== undefined) return `no busybox: ${failure}`;
  const applets = spawnSync(program(), ["--list"], { encoding: "utf8" }).stdout;
  return applets.split("\n").includes("udhcpd") ? undefined : "busybox has no udhcpd";
};

function program(): string {
  return busybox() ?? "busybox";
}

/** The server. */
export interface DhcpServer {
  readonly mac: string;
  /** The server's namespace. */
  readonly host: PodNamespace;
  /** The server's log so far. */
  readonly log: () => string;
  /** Stops answering, as a server that is switched off, and starts again. */
  readonly stop: () => Promise<void>;
  readonly start: () => Promise<void>;
  readonly dispose: () => Promise<void>;
}

const ip = (where: NamespaceCommands, text: string): void => {
  const { status, stderr } = where.exec(["ip", ...text.split(" ")]);
  if (status !== 0) throw new Error(`ip ${text}: ${stderr}`);
};

/** Starts a server with address 10.60.0.1/24 on `bridge` of the node, which is made. `lines`: further lines of udhcpd.conf. */
export async function startDhcpServer(
  node: NamespaceCommands,
  bridge: string,
  lines: readonly string[] = [],
): Promise<DhcpServer> {
  const host = createPodNamespace("dhcpd");
  const directory = mkdtempSync(join(tmpdir(), "plexus-dhcpd-"));
  const mac = "02:00:00:00:60:01";
  ip(node, `link add ${bridge} up type bridge`);
  ip(node, `link add dhcpd0 up master ${bridge} type veth peer name eth0 netns ${host.name}`);
  ip(host, `link set eth0 address ${mac} up`);
  ip(host, "address add 10.60.0.1/24 dev eth0");
  const file = join(directory, "udhcpd.conf");
  writeFileSync(
    file,
    [
      "start 10.60.0.20",
      "end 10.60.0.30",
      "interface eth0",
      "min_lease 2",
      // ARP probes of each offer take the server two seconds.
      "conflict_time 1",
      `lease_file ${join(directory, "leases")}`,
      `pidfile ${join(directory, "pid")}`,
      "option subnet 255.255.255.0",
      "option router 10.60.0.1",
      "option dns 10.60.0.1",
      "option domain lab.example",
      ...lines,
      "",
    ].join("\n"),
  );
  writeFileSync(join(directory, "leases"), "");
  const log = join(directory, "log");
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const command = `exec ${program()} udhcpd -f ${file} >> ${log} 2>&1`;
    child = spawn("nsenter", [`--net=${host.path}`, "sh", "-c", command], { stdio: "ignore" });
    await once(child, "spawn");
  };
  const stop = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, "close");
    // udhcpd writes its leases when it is asked to end.
    child.kill("SIGTERM");
    await ended;
    child = undefined;
  };
  await start();
  return {
    mac,
    host,
    log: () => (existsSync(log) ? readFileSync(log, "utf8") : ""),
    start,
    stop,
    dispose: async () => {
      await stop();
      host.dispose();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
