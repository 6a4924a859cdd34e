// The state of a network namespace, so that the effects of two plugins can be compared. It has each link's name, kind, flags,
// addresses, routes, permanent neighbours and sysctls. It omits values that the kernel chooses: indexes, addresses made from
// a MAC, and the state of duplicate address detection.

import type { CallLanes } from "./call-lanes.ts";

export interface LinkFacts {
  readonly link: Readonly<Record<string, unknown>>;
  readonly addresses: readonly string[];
  readonly routes: readonly string[];
  readonly neighbours: readonly string[];
  /** The interface's sysctls by family and name, such as `ipv4/arp_notify`. */
  readonly settings: Readonly<Record<string, string>>;
}

type Facts = Readonly<Record<string, unknown>>;

/** Flags that depend on the carrier. */
const carrierFlags: ReadonlySet<string> = new Set(["NO-CARRIER", "LOWER_UP", "M-DOWN", "RUNNING"]);

const commands = ["link show", "address show", "route show table all", "neighbour show nud permanent"];

/**
 * The facts of a namespace's links, by the link's name. The entry "" has the sysctls of `keys` that belong to no interface.
 * `keys` are files or directories below /proc/sys/net.
 */
export async function stateOf(lanes: CallLanes, pod: string, keys: readonly string[]): Promise<ReadonlyMap<string, LinkFacts>> {
  const links = `ip -n ${pod} -j -d -batch - <<'EOF'\n${commands.join("\n")}\nEOF`;
  const paths = keys.map((key) => `/proc/sys/net/${key}`).join(" ");
  const settings = `printf '\\001\\n'; nsenter --net=/run/netns/${pod} -- grep -rHs '' ${paths}`;
  const output = await lanes.run(keys.length === 0 ? links : `${links}\n${settings}`);
  const [linkText = "", settingsText = ""] = output.split("\u0001");
  const [shown = [], addresses = [], routes = [], neighbours = []] = linkText
    .split("\n")
    .filter((line) => line.startsWith("["))
    .map(records);
  const found = settingsIn(settingsText);
  const facts = shown.map((link): [string, LinkFacts] => {
    const name = textOf(link["ifname"]);
    return [
      name,
      {
        link: linkFacts(link),
        addresses: addresses
          .filter((each) => each["ifname"] === name)
          .flatMap(addressTexts)
          .sort(),
        routes: of(routes, name).flatMap(routeText).sort(),
        neighbours: of(neighbours, name)
          .map((each) => `${textOf(each["dst"])} ${textOf(each["lladdr"])}`)
          .sort(),
        settings: found.get(name) ?? {},
      },
    ];
  });
  const bare = { link: {}, addresses: [], routes: [], neighbours: [] };
  return new Map([...facts, ["", { ...bare, settings: found.get("") ?? {} }]]);
}

function of(facts: readonly Facts[], name: string): readonly Facts[] {
  return facts.filter((each) => each["dev"] === name);
}

function linkFacts(link: Facts): Facts {
  const { ifname, mtu, flags, address, txqlen, linkinfo, promiscuity, allmulti, master } = link;
  const info: Facts = isFacts(linkinfo) ? linkinfo : {};
  const data: Facts = isFacts(info["info_data"]) ? info["info_data"] : {};
  const { mode, bcqueuelen, id, type, user, group, multi_queue: multiQueue, persist, table } = data;
  return {
    name: ifname,
    mtu,
    mac: address,
    flags: Array.isArray(flags) ? flags.filter((flag) => !carrierFlags.has(String(flag))).sort() : [],
    queue: txqlen,
    kind: info["info_kind"],
    mode,
    bcqueuelen,
    // Members of a VLAN, a TUN/TAP device, and a VRF.
    id,
    tun: type === undefined ? undefined : { type, user, group, multiQueue, persist },
    table,
    bond: info["info_kind"] === "bond" ? bondSettings(data) : undefined,
    master,
    promiscuity,
    allmulti,
  };
}

/** A bond's settings, without the members' state that the kernel chooses with the time. */
function bondSettings(data: Facts): Facts {
  const state: ReadonlySet<string> = new Set(["active_slave", "mii_status", "ad_info", "ad_actor_system"]);
  return Object.fromEntries(Object.entries(data).filter(([key]) => !state.has(key)));
}

function addressTexts(link: Facts): readonly string[] {
  const infos = Array.isArray(link["addr_info"]) ? link["addr_info"].filter(isFacts) : [];
  return infos.map((info) => {
    const address = textOf(info["local"]);
    const shown = address.startsWith("fe80:") ? "link-local" : address;
    const marks = ["noprefixroute", "nodad", "deprecated"].filter((mark) => info[mark] === true);
    return [`${shown}/${Number(info["prefixlen"])}`, textOf(info["scope"]), textOf(info["broadcast"]), ...marks].join(" ");
  });
}

/** A route as JSON; none for link-local addresses, which are made from the MAC. */
function routeText(route: Facts): readonly string[] {
  const { type, dst, gateway, table, protocol, scope, prefsrc, metric, metrics } = route;
  if (textOf(dst).startsWith("fe80:") && textOf(dst) !== "fe80::/64") return [];
  const source = textOf(prefsrc).startsWith("fe80:") ? "link-local" : prefsrc;
  return [JSON.stringify({ type, dst, gateway, table, protocol, scope, source, metric, metrics })];
}

function settingsIn(text: string): ReadonlyMap<string, Readonly<Record<string, string>>> {
  const found = new Map<string, Record<string, string>>();
  for (const line of text.split("\n")) {
    const [, key = "", value = ""] = /^\/proc\/sys\/net\/([^:]+):(.*)$/u.exec(line) ?? [];
    if (key === "") continue;
    const [, family, name = "", setting] = /^(ipv[46])\/conf\/([^/]+)\/(.+)$/u.exec(key) ?? [];
    const settings = found.get(name) ?? {};
    settings[family === undefined ? key : `${family}/${setting ?? ""}`] = value;
    found.set(name, settings);
  }
  return found;
}

function records(text: string): readonly Facts[] {
  const value: unknown = JSON.parse(text.trim() === "" ? "[]" : text);
  return Array.isArray(value) ? value.filter(isFacts) : [];
}

function isFacts(value: unknown): value is Facts {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
