// A snapshot of a network namespace's configuration, without values that change by themselves.

import type { NamespaceCommands } from "./namespaces.ts";

/** Lines of output by the command that printed them. Equal states have equal lines. */
export type Snapshot = Readonly<Record<string, readonly string[]>>;

const commands = [
  "ip -d -o link show",
  "ip -o address show",
  "ip -4 route show table all",
  "ip -6 route show table all",
  "ip neigh show nud permanent",
  "ip neigh show proxy",
  "ip -4 rule show",
  "ip -6 rule show",
  "bridge vlan show",
  // Without nft no rules are compared.
  "nft list ruleset || true",
  "grep -rs . /proc/sys/net || true",
];

/** Running timers of bridges and counters of the kernel, which are not configuration. */
const timers = /\b\w+_timer\s+[\d.]+ ?/g;
const counters = /^\/proc\/sys\/net\/netfilter\/nf_conntrack_count:/;

/**
 * Takes a snapshot. With `base`, sysctls that `base` lacks are left out, because a kernel module that another test loads adds sysctls to all
 * namespaces.
 */
export function snapshotOf(inside: NamespaceCommands, base?: Snapshot): Snapshot {
  const script = commands.map((command) => `echo '== ${command}'; { ${command}; } 2>&1`);
  // An empty /run/netns: ip(8) would print the names of peers' namespaces, which other tests make and delete meanwhile.
  const hideNames = "mount -t tmpfs tmpfs /run/netns";
  const { status, stdout, stderr } = inside.exec(["unshare", "--mount", "sh", "-e", "-c", [hideNames, ...script].join("\n")]);
  if (status !== 0) throw new Error(`the snapshot's commands ended with ${status}: ${stdout.slice(-500)} ${stderr}`);
  const parts = stdout.split(/^== /m).slice(1);
  return Object.fromEntries(
    parts.map((part) => {
      const [command = "", ...lines] = part.split("\n");
      const kept = lines.filter((line) => line !== "" && !counters.test(line)).map((line) => line.replace(timers, ""));
      const known = base === undefined || !command.startsWith("grep") ? undefined : new Set((base[command] ?? []).map(keyOf));
      return [command, kept.filter((line) => known?.has(keyOf(line)) ?? true).toSorted()];
    }),
  );
}

function keyOf(line: string): string {
  return line.slice(0, line.indexOf(":"));
}
