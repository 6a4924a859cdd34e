// What an attachment left in the kernel, as iproute2 and /proc show it, in a form in which two attachments can be compared: made-up
// names and MACs become what they are for, and what changes by itself (counters, indexes, what DAD and carriers are up to) is left out.

import { z } from "zod";
import type { NamespaceShell } from "./namespace-shell.ts";

const link = z.looseObject({
  ifname: z.string(),
  address: z.string().optional(),
  addr_info: z.array(z.looseObject({})).default([]),
});
const route = z.looseObject({ dst: z.string(), dev: z.string().optional() });
type LinkShown = z.infer<typeof link>;
type RouteShown = z.infer<typeof route>;

/** A namespace, comparable. */
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

/** Looks into a namespace. `known` names what is made up: real name to what it is for. `leaves`: members of links and settings to be left out. */
export async function snapshot(
  shell: NamespaceShell,
  known: ReadonlyMap<string, string> = new Map(),
  leaves: ReadonlySet<string> = new Set(),
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
      .map((one) => comparableLink(one, named, leaves)),
    routes: sorted(
      z
        .array(route)
        .parse(routes ?? [])
        .filter(lasts)
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
        .filter(([key]) => !ownAffair.test(key) && !leaves.has(key))
        .toSorted(),
    ),
  };
}

function comparableLink(
  { addr_info, address, ...one }: LinkShown,
  named: (name: string) => string,
  leaves: ReadonlySet<string>,
): object {
  const kept = Object.entries(one).filter(([key]) => !volatileLink.has(key) && !leaves.has(key));
  return {
    ...Object.fromEntries(kept),
    ifname: named(one.ifname),
    master: typeof one["master"] === "string" ? named(one["master"]) : undefined,
    link: undefined,
    // A bridge without ports loses a MAC that it had of one.
    address: address === undefined ? undefined : address.startsWith(chosenMac) ? address : "made up",
    flags: flagsOf(one["flags"]),
    linkinfo: linkInfo(one["linkinfo"]),
    addresses: sorted(
      addr_info
        .filter((info) => info["scope"] !== "link" || info["family"] !== "inet6")
        .map((info) => comparableAddress(info, named)),
    ),
  };
}

/** Carriers come and go by themselves. */
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

/** Not what the kernel makes of link-local addresses and of addresses that are tentative still. */
function lasts({ dst, ...one }: RouteShown): boolean {
  if (dst.startsWith("fe80:") || dst.startsWith("ff00:") || dst.startsWith("127.") || dst === "::1") return false;
  return !(dst.includes(":") && (one["type"] === "local" || one["type"] === "anycast" || one["type"] === "multicast"));
}

function comparableRoute(one: RouteShown, named: (name: string) => string): object {
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

/** How the MACs begin that configurations of these tests ask for. Five bytes: among thousands that are made up some begin with the same two. */
export const chosenMac = "02:11:22:33:44:";

/** Members of a link that say nothing of how it was set up. */
const volatileLink = new Set(["ifindex", "link_index", "link_netnsid", "broadcast", "operstate", "qdisc", "link", "master"]);
/** Timers, identities and spanning tree states. */
const volatileInfo = /_id$|timer|^designated|^state$|^root_|^bridge_id|^no$|^port|cost|_addr$|^topology|^group_address|^id$/;
/** Secrets, and what a link tells of itself. */
const ownAffair = /stable_secret|\/mc_forwarding$|base_reachable_time/;
