// The state of network namespaces and of a plugin's files, as the kernel shows it.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const linkList = z.array(
  z.object({
    ifname: z.string(),
    address: z.string().optional(),
    mtu: z.number(),
    txqlen: z.number().optional(),
    flags: z.array(z.string()),
    promiscuity: z.number().optional(),
    linkinfo: z.object({ info_kind: z.string().optional() }).optional(),
    addr_info: z
      .array(z.object({ local: z.string().optional(), prefixlen: z.number().optional(), scope: z.string().optional() }))
      .default([]),
  }),
);
const routeList = z.array(
  z.object({ dst: z.string(), dev: z.string().optional(), gateway: z.string().optional(), protocol: z.string().optional() }),
);

/** The script whose output `addPodState` and `addHostState` read: links with addresses, IPv4 routes, IPv6 routes. */
export const stateScript = "ip -j -d address show; echo; ip -j -4 route show; echo; ip -j -6 route show";

/** The attributes of a link that plugins change. */
export interface LinkAttributes {
  readonly mac: string | undefined;
  readonly mtu: number;
  readonly up: boolean;
  readonly promiscuous: boolean;
  readonly allMulticast: boolean;
  readonly txQueueLength: number | undefined;
}

/** Adds the links of a pod with attributes, addresses and routes. Throws an Error for an unreadable output. */
export function addPodState(state: Map<string, string>, output: string): void {
  const { links, routes } = parsed(output);
  for (const link of links) {
    state.set(`link pod ${link.ifname}`, link.linkinfo?.info_kind ?? "");
    const attributes: LinkAttributes = {
      mac: link.address,
      mtu: link.mtu,
      up: link.flags.includes("UP"),
      promiscuous: link.flags.includes("PROMISC"),
      allMulticast: link.flags.includes("ALLMULTI"),
      txQueueLength: link.txqlen,
    };
    state.set(`attribute pod ${link.ifname}`, JSON.stringify(attributes));
    for (const { local, prefixlen, scope } of link.addr_info) {
      // The kernel gives lo its own addresses.
      const isOwn = link.ifname === "lo" && (local === "127.0.0.1" || local === "::1");
      if (local !== undefined && scope !== "link" && !isOwn)
        state.set(`address pod ${link.ifname} ${local}/${prefixlen ?? ""}`, "");
    }
  }
  for (const { dst, dev, gateway, protocol } of routes) {
    // Routes of the kernel's own come and go with addresses.
    if (protocol !== "kernel" && protocol !== "ra") state.set(`route pod ${dev ?? ""} ${dst}`, gateway ?? "");
  }
}

/** Adds the names of the node's links, and its routes. */
export function addHostState(state: Map<string, string>, output: string): void {
  const { links, routes } = parsed(output);
  for (const { ifname } of links) state.set(`link host ${ifname}`, "");
  for (const { dst, dev, protocol } of routes)
    if (protocol !== "kernel" && protocol !== "ra") state.set(`route host ${dev ?? ""} ${dst}`, "");
}

/** Adds the files of a directory. Locks and host-local's last reserved addresses are no leases. */
export function addFiles(state: Map<string, string>, directory: string): void {
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name === "lock" || entry.name.startsWith("last_reserved_ip.")) continue;
    state.set(`lease ${join(entry.parentPath, entry.name).slice(directory.length + 1)}`, "");
  }
}

function parsed(output: string): { links: z.infer<typeof linkList>; routes: z.infer<typeof routeList> } {
  const [links = "", ...routes] = output.split("\n\n").map((part) => part.trim());
  const values = routes.flatMap((text) => routeList.parse(JSON.parse(text === "" ? "[]" : text)));
  return { links: linkList.parse(JSON.parse(links === "" ? "[]" : links)), routes: values };
}
