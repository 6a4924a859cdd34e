// Reads links back, with what is on them.

import { SECOND_NAMESPACE } from "../hands/messages.ts";
import { addressesOf, addressesRequest, type AddressState } from "../netlink/address.ts";
import { type VlanRange, vlansIn, vlansRequest } from "../netlink/bridge-port.ts";
import { linkRequest, namespaceIdRequest } from "../netlink/link-change.ts";
import { type LinkState, linkStateIn } from "../netlink/link-state.ts";
import type { NetlinkAnswer } from "../netlink/message.ts";
import type { LinksPlace } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import { namespaceId } from "./own-links.ts";
import type { Transaction } from "./transaction.ts";

/** A link as it is, and the names of what it has to do with, where they are in one of the two namespaces. */
export interface SeenLink {
  readonly place: LinksPlace;
  readonly state: LinkState;
  readonly addresses: readonly AddressState[];
  readonly vlans: readonly VlanRange[];
  readonly master: string | undefined;
  /** A veth's other end, or what it lies on. */
  readonly link: string | undefined;
}

export interface SeenPlace {
  readonly place: LinksPlace;
  readonly index: number;
}

/** The state of a link by its index; what the caller knows already needs no asking. */
export type Known = (place: LinksPlace, index: number) => LinkState | undefined;

type Seen = Pick<SeenLink, "place" | "state" | "addresses">;

const ENODEV = 19;
const EOPNOTSUPP = 95;

/** Those that are there, in the order given, together with what waits in the transaction. */
export async function seeLinks(
  transaction: Transaction,
  links: readonly SeenPlace[],
  known: Known,
): Promise<readonly SeenLink[]> {
  const asked = new Map<
    SeenPlace,
    { state: Promise<NetlinkAnswer | undefined>; addresses?: Promise<NetlinkAnswer | undefined> }
  >();
  for (const place of ["pod", "host"] as const) {
    const here = links.filter((link) => link.place === place);
    for (const link of here) asked.set(link, { state: read(transaction, place, link.index) });
    for (const link of here) {
      const request = addressesRequest(link.index);
      const addresses = transaction.send(place, { request, what: "reading addresses", fine: [ENODEV], goneIsFine: true });
      asked.set(link, { state: asked.get(link)?.state ?? addresses, addresses });
    }
  }
  if (!(await transaction.flush())) return [];
  const seen: Seen[] = [];
  for (const link of links) {
    const state = stateIn(await asked.get(link)?.state);
    if (state === undefined) continue;
    const dump = await asked.get(link)?.addresses;
    seen.push({ place: link.place, state, addresses: dump === undefined ? [] : addressesOf(dump, state.index) });
  }
  return named(transaction, seen, known);
}

function read(transaction: Transaction, place: LinksPlace, index: number): Promise<NetlinkAnswer | undefined> {
  return transaction.send(place, {
    request: linkRequest(index),
    what: `reading link ${index}`,
    fine: [ENODEV],
    goneIsFine: true,
  });
}

function stateIn(answer: NetlinkAnswer | undefined): LinkState | undefined {
  return answer?.messages.flatMap((message) => linkStateIn(message) ?? [])[0];
}

/** Finds the names of what they have to do with, asking for those that nobody knows yet. */
async function named(transaction: Transaction, seen: readonly Seen[], known: Known): Promise<readonly SeenLink[]> {
  const find = (place: LinksPlace, index: number): LinkState | undefined =>
    seen.find((each) => each.place === place && each.state.index === index)?.state ?? known(place, index);
  const further = await readFurther(transaction, seen, find);
  const get = (place: LinksPlace, index: number | undefined): LinkState | undefined =>
    index === undefined ? undefined : (find(place, index) ?? further.states.get(`${place}/${index}`));
  const filtering = seen.some(({ place, state }) => {
    const bridge = state.kind === "bridge" ? state : get(place, state.master);
    return place === "host" && bridge?.vlanFiltering === true;
  });
  const request = vlansRequest();
  const told = filtering ? transaction.send("host", { request, what: "reading VLANs", fine: [EOPNOTSUPP] }) : undefined;
  await transaction.flush();
  const ranges = (await told)?.messages.flatMap((message) => vlansIn(message) ?? []) ?? [];
  return seen.map(({ place, state, addresses }) => {
    const there = place === "pod" ? "host" : "pod";
    const away = state.linkNamespace;
    const isThere = isPeer(state, state.link === undefined ? undefined : find(there, state.link)) || away === further.ids[there];
    const link = away === undefined ? get(place, state.link) : isThere ? get(there, state.link) : undefined;
    const vlans = place === "host" ? (ranges.find((each) => each.link === state.index)?.vlans ?? []) : [];
    return { place, state, addresses, vlans, master: get(place, state.master)?.name, link: link?.name };
  });
}

interface Further {
  /** By place and index. */
  readonly states: ReadonlyMap<string, LinkState>;
  /** By which id the node knows the pod's namespace, and the pod the node's; where anybody had to ask. */
  readonly ids: { readonly [P in LinksPlace]: number | undefined };
}

async function readFurther(transaction: Transaction, seen: readonly Seen[], find: Known): Promise<Further> {
  const answers = new Map<string, Promise<NetlinkAnswer | undefined>>();
  const ask = (place: LinksPlace, index: number): void => {
    const key = `${place}/${index}`;
    if (find(place, index) === undefined && !answers.has(key)) answers.set(key, read(transaction, place, index));
  };
  let crossing = false;
  for (const { place, state } of seen) {
    if (state.master !== undefined) ask(place, state.master);
    if (state.link === undefined) continue;
    const there = place === "pod" ? "host" : "pod";
    if (state.linkNamespace === undefined) ask(place, state.link);
    else if (!isPeer(state, find(there, state.link))) {
      crossing = true;
      ask(there, state.link);
    }
  }
  const ids = crossing ? { pod: transaction.send("host", podId), host: transaction.send("pod", hostId) } : undefined;
  await transaction.flush();
  const states = new Map<string, LinkState>();
  for (const [key, answer] of answers) {
    const state = stateIn(await answer);
    if (state !== undefined) states.set(key, state);
  }
  return { states, ids: { pod: namespaceId(await ids?.pod), host: namespaceId(await ids?.host) } };
}

/** Of a link that is known to have been made as the other end. */
function isPeer(state: LinkState, other: LinkState | undefined): boolean {
  return other?.kind === "veth" && state.kind === "veth" && other.link === state.index && other.index === state.link;
}

const podId = {
  request: namespaceIdRequest(SECOND_NAMESPACE),
  what: "looking the pod's namespace up",
  reaching: true,
  goneIsFine: true,
};
const hostId = { ...podId, what: "looking the node's namespace up" };
