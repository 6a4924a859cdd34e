// For tests: the state of a network namespace by ip(8), without the parts that the kernel changes by itself.

import { execFileSync } from "node:child_process";

/** Members that the kernel changes by itself: timers, carrier, duplicate address detection, the queue that a link gets when it is first up. */
const volatile = new Set([
  "qdisc",
  "tentative",
  "valid_life_time",
  "preferred_life_time",
  "operstate",
  "dynamic",
  "state",
  "gc_timer",
  "hello_timer",
]);
const volatileFlags = new Set(["LOWER_UP", "NO-CARRIER", "M-DOWN"]);
const settings = ["arp_notify", "arp_ignore", "rp_filter", "proxy_arp", "forwarding"];
const inet6Settings = ["accept_dad", "accept_ra", "dad_transmits", "forwarding", "disable_ipv6"];

/** `namespace`: its path; undefined: this process's. */
export function snapshot(namespace?: string): unknown {
  const commands = [
    "-d address show",
    "-4 route show table all",
    "-6 route show table all",
    "neighbour show nud permanent",
    "neighbour show proxy",
  ];
  const files = [
    ...settings.map((name) => `/proc/sys/net/ipv4/conf/*/${name}`),
    ...inet6Settings.map((name) => `/proc/sys/net/ipv6/conf/*/${name}`),
  ];
  const script = [...commands.map((args) => `ip -j ${args}; echo; echo ---`), `grep -s . ${files.join(" ")}`].join("\n");
  const command = namespace === undefined ? ["sh", "-c", script] : ["nsenter", `--net=${namespace}`, "--", "sh", "-c", script];
  const [file = "", ...args] = command;
  const parts = execFileSync(file, args, { encoding: "utf8" }).split("---\n");
  const sysctls = (parts.pop() ?? "").split("\n").toSorted();
  return { state: parts.map((part) => stableState(JSON.parse(part.trim() === "" ? "[]" : part) as unknown)), sysctls };
}

function stableState(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) {
    const kept = value.filter((each) => !(key === "flags" && typeof each === "string" && volatileFlags.has(each)));
    const parts = kept.map((each) => stableState(each)).filter((each) => JSON.stringify(each) !== "{}");
    return parts.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !volatile.has(name))
      .map(([name, member]) => [name, stableState(member, name)] as const),
  );
}
