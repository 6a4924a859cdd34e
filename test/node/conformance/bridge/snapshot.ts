// Comparable snapshots of a network namespace from iproute2 and /proc. Labels replace generated names and MACs. Volatile values (counters,
// indexes, states of DAD and carriers) are left out.

import { z } from "zod";
import type { NamespaceShell } from "./namespace-shell.ts";

const link = z.looseObject({
  ifname: z.string(),
  address: z.string().optional(),
  addr_info: z.array(z.looseObject({})).default([]),
});
const route = z.looseObject({ dst: z.string(), dev: z.string().optional() });
type IpLink = z.infer<typeof link>;
type IpRoute = z.infer<typeof route>;

/** The comparable state of a namespace. */
export interface Snapshot {
  readonly links: readonly object[];
  readonly routes: readonly object[];
  readonly neighbours: readonly object[];
  readonly settings: Readonly<Record<string, string>>;
}

const settingFiles = [
  "/proc/sys/net/ipv4/ip_forward",
  "/proc/sys/net/ipv6/conf/all/forwarding",
  "/proc/sys/net/ipv6/conf/lo/disable_ipv6",
  ...["ipv4", "ipv6"].flatMap((family) =>
    ["[!adl]*", "d[!e]*", "l[!o]*"].map((name) => `/proc/sys/net/${family}/conf/${name}/*`),
  ),
];

/** Takes a snapshot. `known` maps generated names to labels. `ignored` has members of links and sysctls to leave out. */
export async function snapshot(
  shell: NamespaceShell,
  known: ReadonlyMap<string, string> = new Map(),
  ignored: ReadonlySet<string> = new Set(),
): Promise<Snapshot> {
  const text = await shell.output(
    `printf 'address show\\nroute show table all\\nneighbour show nud permanent\\n' | ip -j -d -batch -; grep -sr . ${settingFiles.join(" ")}; true`,
  );
  const lines = text.split("\n");
  const [addresses, routes, neighbours] = lines.filter((line) => line.startsWith("[")).map((line): unknown => JSON.parse(line));
  const settings = lines.filter((line) => line.startsWith("/proc/"));
  const named = (name: string): string => known.get(name) ?? name;
  return {
    links: z
      .array(link)
      .parse(addresses ?? [])
      .filter(({ ifname }) => ifname !== undefined && ifname !== "lo")
      .map((one) => comparableLink(one, named, ignored)),
    routes: sorted(
      z
        .array(route)
        .parse(routes ?? [])
        .filter(isStable)
        .map((one) => comparableRoute(one, named)),
    ),
    neighbours: sorted(
      z
        .array(z.looseObject({}))
        .parse(neighbours ?? [])
        .filter((one) => one["dev"] !== "lo"),
    ),
    settings: Object.fromEntries(
      settings
        .map((line) => setting(line, named))
        .filter(([key]) => !volatileSysctl.test(key) && !ignored.has(key))
        .toSorted(),
    ),
  };
}

function comparableLink(
  { addr_info, address, ...one }: IpLink,
  named: (name: string) => string,
  ignored: ReadonlySet<string>,
): object {
  const kept = Object.entries(one).filter(([key]) => !volatileLink.has(key) && !ignored.has(key));
  return {
    ...Object.fromEntries(kept),
    ifname: named(one.ifname),
    master: typeof one["master"] === "string" ? named(one["master"]) : undefined,
    link: undefined,
    // A bridge without ports loses the MAC that it had from a port.
    address: address === undefined ? undefined : address.startsWith(requestedMacPrefix) ? address : "generated",
    flags: flagsOf(one["flags"]),
    linkinfo: linkInfo(one["linkinfo"]),
    addresses: sorted(
      addr_info
        .filter((info) => info["scope"] !== "link" || info["family"] !== "inet6")
        .map((info) => comparableAddress(info, named)),
    ),
  };
}

/** The flags of a link without those of the carrier, which changes asynchronously. */
function flagsOf(flags: unknown): unknown {
  return Array.isArray(flags) ? flags.filter((flag) => flag !== "LOWER_UP" && flag !== "NO-CARRIER").toSorted() : flags;
}

function linkInfo(info: unknown): unknown {
  if (typeof info !== "object" || info === null) return info;
  const record: Record<string, unknown> = { ...info };
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => {
      if (typeof value !== "object" || value === null) return [key, value];
      return [key, Object.fromEntries(Object.entries(value).filter(([name]) => !volatileInfo.test(name)))];
    }),
  );
}

function comparableAddress(info: Readonly<Record<string, unknown>>, named: (name: string) => string): object {
  const kept = Object.entries(info).filter(([key]) => key !== "tentative" && key !== "dadfailed");
  return { ...Object.fromEntries(kept), label: typeof info["label"] === "string" ? named(info["label"]) : undefined };
}

/** Whether a route is compared. The kernel's routes of link-local and tentative addresses are volatile. */
function isStable({ dst, ...one }: IpRoute): boolean {
  if (dst.startsWith("fe80:") || dst.startsWith("ff00:") || dst.startsWith("127.") || dst === "::1") return false;
  return !(dst.includes(":") && (one["type"] === "local" || one["type"] === "anycast" || one["type"] === "multicast"));
}

function comparableRoute(one: IpRoute, named: (name: string) => string): object {
  const flags = Array.isArray(one["flags"])
    ? one["flags"].filter((flag) => flag !== "linkdown" && flag !== "dead")
    : one["flags"];
  return { ...one, dev: one.dev === undefined ? undefined : named(one.dev), flags };
}

function setting(line: string, named: (name: string) => string): [string, string] {
  const colon = line.indexOf(":");
  const path = line.slice("/proc/sys/net/".length, colon).split("/");
  return [path.map((part, index) => (index === 2 ? named(part) : part)).join("/"), line.slice(colon + 1)];
}

function sorted(all: readonly object[]): readonly object[] {
  return all.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** The first five bytes of requested MACs. A shorter prefix could match one of thousands of generated MACs. */
const requestedMacPrefix = "02:11:22:33:44:";

/** Members of a link that do not depend on its configuration. */
const volatileLink = new Set(["ifindex", "link_index", "link_netnsid", "broadcast", "operstate", "qdisc", "link", "master"]);
/** Timers, identities and spanning tree states. */
const volatileInfo = /_id$|timer|^designated|^state$|^root_|^bridge_id|^no$|^port|cost|_addr$|^topology|^group_address|^id$/;
/** Sysctls with secrets or volatile values. */
const volatileSysctl = /stable_secret|\/mc_forwarding$|base_reachable_time/;
