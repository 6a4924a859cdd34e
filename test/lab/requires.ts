// Requirements of tests on the machine. A test with an unmet requirement is skipped, never passed:
// `test.skipIf(missing(...))` notes the reason.

import { spawnSync } from "node:child_process";
import { closeSync, constants, existsSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { missingPrivateNamespaces } from "./namespaces.ts";
import { noteSkipped } from "./skip-reasons.ts";

/** Directories in which distributions and Kubernetes install the CNI reference plugins. */
const pluginDirectories = ["/opt/cni/bin", "/usr/lib/cni", "/usr/libexec/cni"];

/** The path of an installed reference plugin, or undefined. */
export function referencePlugin(name: string): string | undefined {
  return pluginDirectories.map((directory) => join(directory, name)).find((path) => existsSync(path));
}

/** A requirement answers undefined if it is met, otherwise the reason as one phrase. */
export type Requirement = () => string | undefined;

export function command(name: string, ...versionArgs: string[]): Requirement {
  return once(`${name} ${versionArgs.join(" ")}`, () =>
    spawnSync(name, versionArgs, { stdio: "ignore" }).status === 0 ? undefined : `no ${name} on PATH`,
  );
}

const answers = new Map<string, string | undefined>();

/** A requirement that a worker looks at once for all of its files, because a look starts processes. */
function once(name: string, look: Requirement): Requirement {
  return () => {
    const key = `${process.env["PATH"]} ${name}`;
    if (!answers.has(key)) answers.set(key, look());
    return answers.get(key);
  };
}

export const privateNamespaces: Requirement = () => missingPrivateNamespaces();
export const go: Requirement = command("go", "version");
export const clang: Requirement = command("clang", "--version");
export const iproute2: Requirement = command("ip", "-V");
/** bridge(8) of iproute2, which Alpine and Busybox systems may lack beside ip(8). */
export const bridgeCommand: Requirement = command("bridge", "-V");

/** A TAP link needs /dev/net/tun. */
export const tunDevice: Requirement = () => {
  try {
    closeSync(openSync("/dev/net/tun", constants.O_RDWR));
    return undefined;
  } catch (error) {
    return `/dev/net/tun cannot be opened: ${String(error)}`;
  }
};

/** User and group `id` must exist in this user namespace. An unprivileged user's namespace maps 0 only. */
export function mappedId(id: number): Requirement {
  return () => {
    const unmapped = ["uid_map", "gid_map"].filter((name) => !isMapped(readFileSync(`/proc/self/${name}`, "utf8"), id));
    return unmapped.length === 0 ? undefined : `this user namespace does not map id ${id} (${unmapped.join(", ")})`;
  };
}

/** `map` has the lines of /proc/PID/uid_map: first id inside, first id outside, count. */
function isMapped(map: string, id: number): boolean {
  return map.split("\n").some((line) => {
    const [first = NaN, , count = NaN] = line.trim().split(/\s+/u).map(Number);
    return id >= first && id < first + count;
  });
}

/** strace must be able to trace processes and to inject errors into system calls. */
export const strace: Requirement = once("strace", () =>
  spawnSync("strace", ["-f", "-qq", "-o", "/dev/null", "-e", "inject=unlink:error=EPERM:when=1", "true"]).status === 0
    ? undefined
    : "no strace on PATH that may trace and inject errors",
);

/** Requires all of these reference plugins. */
export function referencePlugins(...names: string[]): Requirement {
  return () => {
    const absent = names.filter((name) => referencePlugin(name) === undefined);
    return absent.length === 0 ? undefined : `no reference plugin ${absent.join(", ")} in ${pluginDirectories.join(", ")}`;
  };
}

/** The kernel must support links of this type. The check makes one in a temporary network namespace. */
export function linkType(
  type: "bridge" | "veth" | "macvlan" | "ipvlan" | "dummy" | "vlan" | "vrf" | "ifb" | "bond",
): Requirement {
  return once(`links of type ${type}`, () => {
    const script =
      type === "macvlan" || type === "ipvlan" || type === "vlan"
        ? `ip link add p0 type bridge && ip link add l0 link p0 type ${type}${type === "vlan" ? " id 5" : ""}`
        : `ip link add l0 type ${type}${type === "vrf" ? " table 10" : ""}`;
    const tried = spawnSync("unshare", ["--net", "sh", "-c", script], { stdio: "ignore" });
    return tried.status === 0 ? undefined : `the kernel has no ${type} links, or this process may not make them`;
  });
}

/** Whether a requirement is unmet, for `test.skipIf(...)` and `describe.skipIf(...)`. The end of a run names each reason once. */
export function missing(suite: string, ...requirements: readonly Requirement[]): boolean {
  const reasons = requirements.map((requirement) => requirement()).filter((reason) => reason !== undefined);
  for (const reason of reasons) noteSkipped(suite, reason);
  return reasons.length > 0;
}
