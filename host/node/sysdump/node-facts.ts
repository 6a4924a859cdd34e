// Facts about the node: versions, kernel features, links, routes and installed files, as far as this program may read them.

import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { networkInterfaces, uptime } from "node:os";
import { join } from "node:path";
import { version } from "../../system/version.ts";
import { systemClock } from "../../system/clock.ts";
import { readTail } from "./read-tail.ts";

/** Versions of Plexus, Node and the system. */
export function versions(): object {
  return {
    plexus: version,
    node: process.versions,
    arch: process.arch,
    kernel: textOf("/proc/version").trim(),
    system: textOf("/etc/os-release").trim(),
    time: systemClock.date().toISOString(),
    uptimeSeconds: Math.floor(uptime()),
  };
}

/** Settings and features of the kernel that Plexus and its sandbox use. */
export function kernelFeatures(): object {
  const sysctls = [
    "kernel/pid_max",
    "kernel/unprivileged_userns_clone",
    "kernel/apparmor_restrict_unprivileged_userns",
    "kernel/io_uring_disabled",
    "kernel/seccomp/actions_avail",
    "user/max_user_namespaces",
    "user/max_net_namespaces",
    "vm/overcommit_memory",
    "net/ipv4/ip_forward",
    "net/ipv6/conf/all/forwarding",
    "net/ipv6/conf/all/disable_ipv6",
    "fs/inotify/max_user_watches",
    "fs/inotify/max_user_instances",
  ];
  return {
    sysctls: Object.fromEntries(sysctls.map((name) => [name, textOf(join("/proc/sys", name)).trim()])),
    securityModules: textOf("/sys/kernel/security/lsm").trim(),
    cgroup: textOf("/proc/self/cgroup").trim().split("\n"),
    capabilities: textOf("/proc/self/status")
      .split("\n")
      .filter((line) => /^(?:Cap|NoNewPrivs|Seccomp|Uid|Gid)/.test(line)),
    fileSystems: textOf("/proc/filesystems")
      .split(/\s+/)
      .filter((word) => word !== "nodev" && word !== ""),
    modules: textOf("/proc/modules")
      .split("\n")
      .flatMap((line) => line.split(" ")[0] ?? [])
      .filter((name) => name !== ""),
  };
}

/** Links with their addresses and states, and the route tables of the network namespace. */
export function network(): object {
  const directory = "/sys/class/net";
  const links = namesIn(directory).map((name) => {
    const read = (file: string): string => textOf(join(directory, name, file)).trim();
    return {
      name,
      index: read("ifindex"),
      state: read("operstate"),
      mtu: read("mtu"),
      address: read("address"),
      flags: read("flags"),
    };
  });
  return {
    links,
    addresses: networkInterfaces(),
    routes: textOf("/proc/net/route").split("\n"),
    routes6: textOf("/proc/net/ipv6_route").split("\n"),
    devices: textOf("/proc/net/dev").split("\n"),
  };
}

/** Names, sizes, modes and times of the files in a directory, latest first, at most `maxFiles`. */
export function listing(directory: string, maxFiles: number): object {
  const files = namesIn(directory).flatMap((name) => {
    const stats = lstatSync(join(directory, name), { throwIfNoEntry: false });
    return stats === undefined
      ? []
      : [
          {
            name,
            bytes: stats.size,
            mode: (stats.mode & 0o7777).toString(8),
            uid: stats.uid,
            changed: stats.mtime.toISOString(),
          },
        ];
  });
  const latest = files.toSorted((a, b) => b.changed.localeCompare(a.changed));
  return { directory, files: latest.slice(0, maxFiles), leftOut: Math.max(0, latest.length - maxFiles) };
}

/** Names in a directory; none if it cannot be read. */
export function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).toSorted();
  } catch {
    return [];
  }
}

const maxProcBytes = 256 * 1024;

/** A small file's text, or why it cannot be read. */
function textOf(path: string): string {
  try {
    return path.startsWith("/etc/") ? readFileSync(path, "utf8") : readTail(path, maxProcBytes).text;
  } catch (error) {
    return `(unreadable: ${error instanceof Error ? error.message : String(error)})`;
  }
}
