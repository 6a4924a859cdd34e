// Reads links back with their addresses, their VLANs, and the names of the links that they refer to.

import { SECOND_NAMESPACE } from "../../system/netlink/exchange.ts";
import { addressesOf, addressesRequest, type AddressState } from "../../system/netlink/address.ts";
import { type VlanRange, vlansIn, vlansRequest } from "../../system/netlink/bridge-port.ts";
import { linkRequest, namespaceIdRequest } from "../../system/netlink/link-change.ts";
import { type LinkState, linkStatesIn } from "../../system/netlink/link-state.ts";
import type { NetlinkAnswer } from "../../system/netlink/message.ts";
import type { LinksPlace } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { EffectQueue } from "./effect-queue.ts";
import type { LinkAliases } from "./link-aliases.ts";
import { readMembers } from "./link-members.ts";
import { namespaceId } from "./verify-links.ts";
import { ENODEV, EOPNOTSUPP } from "../../system/errno.ts";

/** A link's current state. Names of the node's links are those under which the delegate knows them. Names of other links are undefined where those are in neither of the two namespaces. */
export interface LinkDetails {
  readonly place: LinksPlace;
  readonly state: LinkState;
  readonly addresses: readonly AddressState[];
  readonly vlans: readonly VlanRange[];
  readonly master: string | undefined;
  /** Name of a veth's other end, or of the lower link. */
  readonly link: string | undefined;
  /** A VRF or a bond of the pod: names of the links whose master it is. */
  readonly members: readonly string[];
}

/** A link to read, by its index. */
export interface LinkReference {
  readonly place: LinksPlace;
  readonly index: number;
  /** The call has made it. The other end of a new veth is in the answer, and is known then. */
  readonly isNew?: boolean;
}

/** The state of a link that the caller has already read. */
export type FindLink = (place: LinksPlace, index: number) => LinkState | undefined;

interface LinkWithAddresses extends PlacedLink {
  readonly addresses: LinkDetails["addresses"];
}

/** A link in one of the two namespaces. */
interface PlacedLink {
  readonly place: LinkDetails["place"];
  readonly state: LinkDetails["state"];
}

/** Reads the links that exist, in the order given, in the same send as the queued effects. */
export async function readDetails(
  effects: EffectQueue,
  links: readonly LinkReference[],
  known: FindLink,
  aliases: LinkAliases,
): Promise<readonly LinkDetails[]> {
  const requested = new Map<
    LinkReference,
    { state: Promise<NetlinkAnswer | undefined>; addresses?: Promise<NetlinkAnswer | undefined> }
  >();
  for (const place of ["pod", "host"] as const) {
    const linksOfPlace = links.filter((link) => link.place === place);
    for (const link of linksOfPlace) requested.set(link, { state: read(effects, place, link.index) });
    for (const link of linksOfPlace) {
      const addresses = effects.send(place, {
        request: addressesRequest(link.index),
        action: "reading addresses",
        ignoredErrnos: [ENODEV],
        ignoresMissingNamespace: true,
      });
      requested.set(link, { state: requested.get(link)?.state ?? addresses, addresses });
    }
  }
  const references = new References(effects);
  // In the same turn, from the states before the queued effects: few of them change the links that a link refers to.
  const earlier = links.flatMap(({ place, index, isNew }) => {
    const state = known(place, index);
    return state === undefined || (isNew === true && state.kind === "veth") ? [] : [{ place, state }];
  });
  references.ask(earlier, known);
  if (!(await effects.flush())) return [];
  const found: LinkWithAddresses[] = [];
  for (const link of links) {
    const state = linkStatesIn(await requested.get(link)?.state)[0];
    if (state === undefined) continue;
    const dump = await requested.get(link)?.addresses;
    found.push({ place: link.place, state, addresses: dump === undefined ? [] : addressesOf(dump, state.index) });
  }
  const details = await withNamesAndVlans(effects, references, found, known);
  const members = await readMembers(effects, found);
  return details.map((each) =>
    each.place === "host" ? underKnownNames(each, aliases) : { ...each, members: members.get(each.state.index) ?? [] },
  );
}

function underKnownNames(details: LinkDetails, aliases: LinkAliases): LinkDetails {
  const { state, master } = details;
  return {
    ...details,
    state: { ...state, name: aliases.shownAs(state.name) },
    master: master === undefined ? undefined : aliases.shownAs(master),
  };
}

function read(effects: EffectQueue, place: LinksPlace, index: number): Promise<NetlinkAnswer | undefined> {
  return effects.send(place, {
    request: linkRequest(index),
    action: `reading link ${index}`,
    ignoredErrnos: [ENODEV],
    ignoresMissingNamespace: true,
  });
}

async function withNamesAndVlans(
  effects: EffectQueue,
  references: References,
  links: readonly LinkWithAddresses[],
  known: FindLink,
): Promise<readonly LinkDetails[]> {
  const find = (place: LinksPlace, index: number): LinkState | undefined =>
    links.find((each) => each.place === place && each.state.index === index)?.state ?? known(place, index);
  const referenced = await references.read(links, find);
  const get = (place: LinksPlace, index: number | undefined): LinkState | undefined =>
    index === undefined ? undefined : (find(place, index) ?? referenced.states.get(`${place}/${index}`));
  const filtersVlans = links.some(({ place, state }) => {
    const bridge = state.kind === "bridge" ? state : get(place, state.master);
    return place === "host" && bridge?.vlanFiltering === true;
  });
  const reading = { request: vlansRequest(), action: "reading VLANs", ignoredErrnos: [EOPNOTSUPP] };
  const vlansDump = filtersVlans ? effects.send("host", reading) : undefined;
  await effects.flush();
  const vlansOfPorts = (await vlansDump)?.messages.flatMap((message) => vlansIn(message) ?? []) ?? [];
  return links.map(({ place, state, addresses }) => {
    const otherPlace = place === "pod" ? "host" : "pod";
    const { linkNamespace } = state;
    const isInOtherPlace =
      isPeer(state, state.link === undefined ? undefined : find(otherPlace, state.link)) ||
      linkNamespace === referenced.ids[otherPlace];
    const link = linkNamespace === undefined ? get(place, state.link) : isInOtherPlace ? get(otherPlace, state.link) : undefined;
    const vlans = place === "host" ? (vlansOfPorts.find((each) => each.link === state.index)?.vlans ?? []) : [];
    return { place, state, addresses, vlans, master: get(place, state.master)?.name, link: link?.name, members: [] };
  });
}

interface ReferencedLinks {
  /** By place and index. */
  readonly states: ReadonlyMap<string, LinkState>;
  /** The id by which each namespace knows the other one; undefined where no link needs it. */
  readonly ids: { readonly [P in LinksPlace]: number | undefined };
}

/** The masters, peers and lower links that are not known yet. */
class References {
  readonly #effects: EffectQueue;
  readonly #answers = new Map<string, Promise<NetlinkAnswer | undefined>>();
  #ids: { readonly [P in LinksPlace]: Promise<NetlinkAnswer | undefined> } | undefined;

  constructor(effects: EffectQueue) {
    this.#effects = effects;
  }

  /** Queues the reads that were not queued before. */
  ask(links: readonly PlacedLink[], find: FindLink): void {
    for (const { place, state } of links) {
      if (state.master !== undefined) this.#askFor(place, state.master, find);
      if (state.link === undefined) continue;
      const otherPlace = place === "pod" ? "host" : "pod";
      if (state.linkNamespace === undefined) this.#askFor(place, state.link, find);
      else if (!isPeer(state, find(otherPlace, state.link))) {
        this.#askFor(otherPlace, state.link, find);
        this.#ids ??= { pod: this.#effects.send("host", podIdMessage), host: this.#effects.send("pod", nodeIdMessage) };
      }
    }
  }

  #askFor(place: LinksPlace, index: number, find: FindLink): void {
    const key = `${place}/${index}`;
    if (find(place, index) === undefined && !this.#answers.has(key)) this.#answers.set(key, read(this.#effects, place, index));
  }

  /** Reads what the links refer to. */
  async read(links: readonly LinkWithAddresses[], find: FindLink): Promise<ReferencedLinks> {
    this.ask(links, find);
    await this.#effects.flush();
    const states = new Map<string, LinkState>();
    for (const [key, answer] of this.#answers) {
      const state = linkStatesIn(await answer)[0];
      if (state !== undefined) states.set(key, state);
    }
    return { states, ids: { pod: namespaceId(await this.#ids?.pod), host: namespaceId(await this.#ids?.host) } };
  }
}

/** Whether two links are the ends of one veth: each names the other's index. */
function isPeer(state: LinkState, other: LinkState | undefined): boolean {
  return other?.kind === "veth" && state.kind === "veth" && other.link === state.index && other.index === state.link;
}

const podIdMessage = {
  request: namespaceIdRequest(SECOND_NAMESPACE),
  action: "reading the id of the pod's namespace",
  usesSecondNamespace: true,
  ignoresMissingNamespace: true,
};
const nodeIdMessage = { ...podIdMessage, action: "reading the id of the node's namespace" };
