// Everything of a network namespace that stays as it is while nobody changes it.

import type { Inside } from "../harness/namespaces.ts";

/** By what it is of; the texts can be compared byte for byte. */
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
  // nft need not be installed: then no rule can be compared, and none is.
  "nft list ruleset || true",
  "grep -rs . /proc/sys/net || true",
];

/** A bridge's timers run, and what the kernel counts is nobody's setting. */
const runs = /\b\w+_timer\s+[\d.]+ ?/g;
const counts = /^\/proc\/sys\/net\/netfilter\/nf_conntrack_count:/;

/**
 * `base`: a snapshot to be compared with; settings that it lacks are left out, because a kernel module that somebody else needed brings
 * some along in all namespaces.
 */
export function snapshotOf(inside: Inside, base?: Snapshot): Snapshot {
  const script = commands.map((command) => `echo '== ${command}'; { ${command}; } 2>&1`);
  // ip(8) looks for the name of a peer's namespace among all that there are, and other tests make and end theirs meanwhile.
  const nameless = "mount -t tmpfs tmpfs /run/netns";
  const { status, stdout, stderr } = inside.exec(["unshare", "--mount", "sh", "-e", "-c", [nameless, ...script].join("\n")]);
  if (status !== 0) throw new Error(`a snapshot ended with ${status}: ${stdout.slice(-500)} ${stderr}`);
  const parts = stdout.split(/^== /m).slice(1);
  return Object.fromEntries(
    parts.map((part) => {
      const [command = "", ...lines] = part.split("\n");
      const kept = lines.filter((line) => line !== "" && !counts.test(line)).map((line) => line.replace(runs, ""));
      const known = base === undefined || !command.startsWith("grep") ? undefined : new Set((base[command] ?? []).map(keyOf));
      return [command, kept.filter((line) => known?.has(keyOf(line)) ?? true).toSorted()];
    }),
  );
}

function keyOf(line: string): string {
  return line.slice(0, line.indexOf(":"));
}
