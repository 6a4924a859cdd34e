// Network namespaces of pods for tests, inside the private network and mount namespaces that scripts/run.sh makes.

import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { isRecycledFile } from "../../host/store/files/recycled-files.ts";
import { compiledPlugin } from "./compiled.ts";

/** The fields of `ip -j link` that tests read. */
export interface Link {
  readonly name: string;
  readonly mac: string;
  readonly mtu: number;
  readonly up: boolean;
  readonly master: string | undefined;
}

export interface Address {
  readonly link: string;
  /** CIDR notation. */
  readonly address: string;
  readonly scope: string;
}

export interface Finished {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Commands and reads of a test inside an existing network namespace. */
export interface NamespaceCommands {
  exec(command: readonly [string, ...string[]]): Finished;
  /** All links except `lo`. */
  links(): readonly Link[];
  /** All addresses except those of `lo` and IPv6 link-local addresses. */
  addresses(): readonly Address[];
  /** Destinations of the main table, as `ip route` writes them. */
  routes(family?: 4 | 6): readonly string[];
  /** Whether one of ten echo requests to `ip`, IPv4 or IPv6, is answered. They are sent within two seconds. */
  ping(ip: string): boolean;
}

export interface PodNamespace extends NamespaceCommands {
  readonly name: string;
  /** The path that a runtime passes as CNI_NETNS. */
  readonly path: string;
  dispose(): void;
}

/**
 * The reason why the namespaces are not private, or undefined if they are. PLEXUS_PRIVATE must hold the inode of this
 * process' network namespace (scripts/run.sh sets it after `unshare`), and pid 1 must be in another one.
 */
export function missingPrivateNamespaces(env: Readonly<Record<string, string | undefined>> = process.env): string | undefined {
  const marker = env["PLEXUS_PRIVATE"];
  if (marker === undefined || marker === "")
    return "PLEXUS_PRIVATE is not set: run through `npm test`, which enters private namespaces";
  const inode = String(statSync("/proc/self/ns/net").ino);
  if (marker !== inode) return `PLEXUS_PRIVATE is ${marker}, but this process is in network namespace ${inode}`;
  try {
    if (String(statSync("/proc/1/ns/net").ino) === inode) return "this is the network namespace of pid 1";
  } catch {
    // A user namespace may forbid to read the namespaces of pid 1. Then pid 1 cannot share a namespace that was unshared here.
  }
  return undefined;
}

/** Throws unless the network namespace is private. Every harness function that touches links calls this function. */
export function requirePrivateNamespaces(): void {
  const reason = missingPrivateNamespaces();
  if (reason !== undefined) throw new Error(`refusing to touch the machine's network: ${reason}`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function records(json: string): Record<string, unknown>[] {
  const value: unknown = JSON.parse(json === "" ? "[]" : json);
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function linksFrom(json: string): Link[] {
  return records(json)
    .filter((link) => link["ifname"] !== undefined && link["ifname"] !== "lo")
    .map((link) => ({
      name: textOf(link["ifname"]),
      mac: textOf(link["address"]),
      mtu: Number(link["mtu"]),
      up: Array.isArray(link["flags"]) && link["flags"].includes("UP"),
      master: typeof link["master"] === "string" ? link["master"] : undefined,
    }));
}

function addressesFrom(json: string): Address[] {
  return records(json).flatMap((link) => {
    const infos = Array.isArray(link["addr_info"]) ? link["addr_info"].filter(isRecord) : [];
    return infos
      .filter(
        (info) =>
          link["ifname"] !== "lo" && info["local"] !== undefined && !(info["family"] === "inet6" && info["scope"] === "link"),
      )
      .map((info) => ({
        link: textOf(link["ifname"]),
        address: `${textOf(info["local"])}/${Number(info["prefixlen"])}`,
        scope: textOf(info["scope"]),
      }));
  });
}

/** Runs a program in the tests' host namespace and answers its stdout. Throws if the program fails. */
export function inHost(command: readonly [string, ...string[]]): string {
  requirePrivateNamespaces();
  const [file, ...args] = command;
  return execFileSync(file, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** The links of the tests' host namespace except `lo`, sorted by name. */
export function hostLinks(): readonly Link[] {
  return linksFrom(inHost(["ip", "-j", "link", "show"])).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The lease files below a directory as relative paths. `lock`, `last_reserved_ip.N` and recycled files are not leases. */
export function leases(directory: string): readonly string[] {
  return filesBelow(directory).filter((path) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    return name !== "lock" && !name.startsWith("last_reserved_ip.") && !isRecycledFile(name);
  });
}

/** All files below a directory as relative sorted paths. An absent directory has none. */
export function filesBelow(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
      .sort();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

/** Makes a network namespace as a runtime does, with a short unique name. */
export function createPodNamespace(prefix = "pod"): PodNamespace {
  const name = `${prefix}-${randomBytes(5).toString("hex")}`;
  // One process for both: a fork of a test's worker takes longer than the commands.
  inHost(["sh", "-ec", `ip netns add ${name}; ip -n ${name} link set lo up`]);
  const path = `/run/netns/${name}`;
  const inside = inNamespace(path);
  let disposed = false;
  return {
    name,
    path,
    ...inside,
    dispose() {
      if (disposed) return;
      disposed = true;
      inHost(["ip", "netns", "delete", name]);
    },
  };
}

/** Commands in the network namespace at `path`, which `createPodNamespace` or a runtime made. */
export function inNamespace(path: string): NamespaceCommands {
  const exec = (command: readonly [string, ...string[]]): Finished => {
    requirePrivateNamespaces();
    const finished = spawnSync("nsenter", [`--net=${path}`, "--", ...command], { encoding: "utf8", timeout: 60_000 });
    return {
      status: finished.status ?? 255,
      stdout: finished.stdout ?? "",
      stderr: finished.stderr ?? String(finished.error ?? ""),
    };
  };
  const output = (command: readonly [string, ...string[]]): string => {
    const finished = exec(command);
    if (finished.status !== 0) throw new Error(`${command.join(" ")} in ${path}: ${finished.stderr}`);
    return finished.stdout;
  };
  return {
    exec,
    links: () => linksFrom(output(["ip", "-j", "link", "show"])),
    addresses: () => addressesFrom(output(["ip", "-j", "address", "show"])),
    routes: (family = 4) => records(output(["ip", `-${family}`, "-j", "route", "show"])).map((route) => textOf(route["dst"])),
    ping: (ip) => exec([compiledPlugin("ping"), ip, "10"]).status === 0,
  };
}

/** The number of this process' open file descriptors, for tests that show that a loop leaks none. */
export function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

/** The text of a file, or undefined if the file cannot be read. */
export function readTextIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
