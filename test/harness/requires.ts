// What a test needs of the machine, and why it can't run where that is missing. Such tests are skipped by name, never
// passed: `test.skipIf(missing(...))`, with the reason printed once.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { whyNotPrivate } from "./namespaces.ts";

/** Where distributions and Kubernetes keep the CNI reference plugins. */
const pluginDirectories = ["/opt/cni/bin", "/usr/lib/cni", "/usr/libexec/cni"];

/** The path of a reference plugin, or undefined. */
export function referencePlugin(name: string): string | undefined {
  return pluginDirectories.map((directory) => join(directory, name)).find((path) => existsSync(path));
}

/** A requirement: undefined when met, else the reason as one phrase. */
export type Requirement = () => string | undefined;

export function command(name: string, ...versionArgs: string[]): Requirement {
  return () => (spawnSync(name, versionArgs, { stdio: "ignore" }).status === 0 ? undefined : `no ${name} on PATH`);
}

export const privateNamespaces: Requirement = () => whyNotPrivate();
export const go: Requirement = command("go", "version");
export const clang: Requirement = command("clang", "--version");
export const iproute2: Requirement = command("ip", "-V");

/** strace, where it may trace, and change how system calls end. */
export const strace: Requirement = () =>
  spawnSync("strace", ["-f", "-qq", "-o", "/dev/null", "-e", "inject=unlink:error=EPERM:when=1", "true"]).status === 0
    ? undefined
    : "no strace that may trace";

/** All of these reference plugins. */
export function referencePlugins(...names: string[]): Requirement {
  return () => {
    const absent = names.filter((name) => referencePlugin(name) === undefined);
    return absent.length === 0 ? undefined : `no reference plugin ${absent.join(", ")} in ${pluginDirectories.join(", ")}`;
  };
}

/** The kernel can make a link of this type: tried, in a network namespace that ends with the attempt. */
export function linkType(type: "bridge" | "veth" | "macvlan" | "ipvlan" | "dummy" | "vlan" | "vrf"): Requirement {
  return () => {
    const script =
      type === "macvlan" || type === "ipvlan" || type === "vlan"
        ? `ip link add p0 type bridge && ip link add l0 link p0 type ${type}${type === "vlan" ? " id 5" : ""}`
        : `ip link add l0 type ${type}${type === "vrf" ? " table 10" : ""}`;
    const tried = spawnSync("unshare", ["--net", "sh", "-c", script], { stdio: "ignore" });
    return tried.status === 0 ? undefined : `the kernel has no ${type} links, or they may not be made here`;
  };
}

const printed = new Set<string>();

/**
 * Whether anything is missing: for `test.skipIf(...)` and `describe.skipIf(...)`. Prints each reason once a process, so
 * that a skipped suite says why.
 */
export function missing(suite: string, ...requirements: readonly Requirement[]): boolean {
  const reasons = requirements.map((requirement) => requirement()).filter((reason) => reason !== undefined);
  for (const reason of reasons) {
    const line = `skipped: ${suite}: ${reason}\n`;
    if (!printed.has(line)) process.stderr.write(line);
    printed.add(line);
  }
  return reasons.length > 0;
}
