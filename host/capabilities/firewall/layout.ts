// The layout of Plexus's tables, which all attachments share: base chains with hooks, and maps from them to the attachments' chains. A map keeps
// the cost of a packet independent of the number of attachments. Chains of type nat see only a connection's first packet.

import { readCidr } from "../../../src/net/ip.ts";
import type { NetlinkRequest } from "../../system/netlink/message.ts";
import { type Expression, verdictExpression } from "./expressions.ts";
import { destinationWasChanged } from "./connection-expressions.ts";
import { lookUpAddress, lookUpPort } from "./lookup-expressions.ts";
import { addressIn, destinationIsLocal, notByLoopback } from "./match-expressions.ts";
import { deleteRules, type Hook, newChain, newRule, newTable } from "./nf-tables.ts";
import { newMap, type VerdictMap } from "./nf-sets.ts";
import type { IpTable } from "./nf-request.ts";

interface BaseChain {
  readonly name: string;
  readonly hook?: Hook;
  readonly rules: readonly (readonly Expression[])[];
}

/**
 * Chains for further attachments of an address that a map already has: an attachment of another network, or of a container that is gone
 * without a DEL. The chains have one rule for each.
 */
export const overflow = { answers: "answers-more", sources: "sources-more" } as const;

/** Standard priorities of destination and source NAT; `raw` is before connection tracking. */
const [RAW, DESTINATION, SOURCE] = [-300, -100, 100];

const loopback = readCidr("127.0.0.0/8");

/** Key types by nft's numbers: 7 ipv4_addr, 8 ipv6_addr, 12 inet_proto, 13 inet_service. */
function maps(family: 4 | 6): readonly VerdictMap[] {
  const [address, size] = family === 4 ? [7, 4] : [8, 16];
  return [
    { name: "hostports", types: [12, 13], keySize: 8 },
    { name: "hostports-at", types: [address, 12, 13], keySize: size + 8 },
    { name: "answers", types: [address], keySize: size },
    { name: "sources", types: [address], keySize: size },
  ];
}

function jump(chain: string): Expression {
  return verdictExpression({ kind: "jump", chain });
}

function chains(family: 4 | 6): readonly BaseChain[] {
  const toNode = [[...destinationIsLocal(), jump("hostports")]];
  return [
    { name: overflow.answers, rules: [] },
    { name: overflow.sources, rules: [] },
    { name: "hostports", rules: [lookUpPort(family, true, "hostports-at"), lookUpPort(family, false, "hostports")] },
    { name: "answers", rules: [lookUpAddress(family, "destination", "answers"), [jump(overflow.answers)]] },
    { name: "prerouting", hook: { type: "nat", hook: "prerouting", priority: DESTINATION }, rules: toNode },
    { name: "output", hook: { type: "nat", hook: "output", priority: DESTINATION }, rules: toNode },
    {
      name: "postrouting",
      hook: { type: "nat", hook: "postrouting", priority: SOURCE },
      rules: [
        [...destinationWasChanged(), jump("answers")],
        lookUpAddress(family, "source", "sources"),
        [jump(overflow.sources)],
      ],
    },
    ...(family === 4 && loopback !== undefined ? [guard(addressIn("destination", "is", loopback.address, loopback.prefix))] : []),
  ];
}

/**
 * Drops packets from outside to the node's 127.0.0.0/8 before any other chain. `route_localnet`, which makes mappings reachable by 127.0.0.1,
 * would otherwise let the node's neighbours send to it (CVE-2020-8558).
 */
function guard(toLoopback: readonly Expression[]): BaseChain {
  const rules = [[...notByLoopback(), ...toLoopback, verdictExpression({ kind: "drop" })]];
  return { name: "guard", hook: { type: "filter", hook: "prerouting", priority: RAW }, rules };
}

/** The changes that make the layout or its missing parts. Attachments' chains and elements stay. */
export function layoutRequests(table: IpTable): readonly NetlinkRequest[] {
  const all = chains(table.family);
  return [
    newTable(table),
    ...maps(table.family).map((map, index) => newMap(table, map, index + 1)),
    ...all.map(({ name, hook }) => newChain(table, name, { shared: true, ...(hook === undefined ? {} : { hook }) })),
    ...all
      .filter(({ rules }) => rules.length > 0)
      .flatMap(({ name, rules }) => [deleteRules(table, name), ...rules.map((rule) => newRule(table, name, rule))]),
  ];
}

/** By name: the kernel's use count of the whole chain (rules and jumps to it), and whether it has a hook. */
export type LayoutChains = ReadonlyMap<string, { readonly uses: number; readonly hooked: boolean }>;

const cache = new Map<4 | 6, LayoutChains>();

/** The layout's chains that have rules. They show whether the layout is complete. */
export function layoutChains(family: 4 | 6): LayoutChains {
  const jumps: Readonly<Record<string, number>> = { hostports: 2, answers: 1 };
  const found: LayoutChains =
    cache.get(family) ??
    new Map(
      chains(family)
        .filter(({ rules }) => rules.length > 0)
        .map(({ name, hook, rules }) => [name, { uses: rules.length + (jumps[name] ?? 0), hooked: hook !== undefined }]),
    );
  cache.set(family, found);
  return found;
}
