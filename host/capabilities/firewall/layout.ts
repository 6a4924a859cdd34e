// What of our tables belongs to no attachment: chains that packets come to by hooks, and maps that lead on from them. With many attachments
// a packet is looked up in a map, not compared with a list. Only a connection's first packet comes to chains of type nat at all.

import { readCidr } from "../../src/net/ip.ts";
import type { NetlinkRequest } from "../netlink/message.ts";
import {
  addressIn,
  decide,
  destinationIsLocal,
  destinationWasChanged,
  type Expression,
  lookUpAddress,
  lookUpPort,
  notByLoopback,
} from "./expressions.ts";
import { deleteRules, type Hook, newChain, newMap, newRule, newTable, type IpPlace, type VerdictMap } from "./nf-tables.ts";

interface BaseChain {
  readonly name: string;
  readonly hook?: Hook;
  readonly rules: readonly (readonly Expression[])[];
}

/**
 * Chains for what the maps have no room for: a second attachment with an address that the map has already (of another network, or one whose
 * owner is gone without a DEL). Each has one rule for it.
 */
export const overflow = { answers: "answers-more", sources: "sources-more" } as const;

/** Priorities at which everybody changes destinations and sources; `raw` is before connections are tracked. */
const [RAW, DESTINATION, SOURCE] = [-300, -100, 100];

const loopback = readCidr("127.0.0.0/8");

/** nft's numbers of types: 7 ipv4_addr, 8 ipv6_addr, 12 inet_proto, 13 inet_service. */
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
  return decide({ kind: "jump", chain });
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
 * Mappings are reached by 127.0.0.1 through `route_localnet`, which also lets neighbours send to the node's 127.0.0.1 (CVE-2020-8558):
 * what comes from outside for it is dropped before anything else sees it.
 */
function guard(toLoopback: readonly Expression[]): BaseChain {
  const rules = [[...notByLoopback(), ...toLoopback, decide({ kind: "drop" })]];
  return { name: "guard", hook: { type: "filter", hook: "prerouting", priority: RAW }, rules };
}

/** Makes all of it, or what is missing of it; attachments' chains and elements stay. */
export function scaffold(place: IpPlace): readonly NetlinkRequest[] {
  const all = chains(place.family);
  return [
    newTable(place),
    ...maps(place.family).map((map, index) => newMap(place, map, index + 1)),
    ...all.map(({ name, hook }) => newChain(place, name, { shared: true, ...(hook === undefined ? {} : { hook }) })),
    ...all
      .filter(({ rules }) => rules.length > 0)
      .flatMap(({ name, rules }) => [deleteRules(place, name), ...rules.map((rule) => newRule(place, name, rule))]),
  ];
}

export type Landmarks = ReadonlyMap<string, { readonly uses: number; readonly hooked: boolean }>;

const known = new Map<4 | 6, Landmarks>();

/** The chains that show whether all of it is there, each with what the kernel counts: its rules, and the jumps to it. */
export function landmarks(family: 4 | 6): Landmarks {
  const jumps: Readonly<Record<string, number>> = { hostports: 2, answers: 1 };
  const found: Landmarks =
    known.get(family) ??
    new Map(
      chains(family)
        .filter(({ rules }) => rules.length > 0)
        .map(({ name, hook, rules }) => [name, { uses: rules.length + (jumps[name] ?? 0), hooked: hook !== undefined }]),
    );
  known.set(family, found);
  return found;
}
