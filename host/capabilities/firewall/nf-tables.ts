// Messages of nf_tables (linux/netfilter/nf_tables.h) as bytes: tables, chains, rules, maps and their elements, made, removed, asked for
// and read. No I/O. All of them are about the table `plexus` unless another one is named.

import { attribute, attributesIn, textIn, Attributes } from "../netlink/attributes.ts";
import { concat, u16 } from "../netlink/bytes.ts";
import type { NetlinkRequest } from "../netlink/message.ts";
import { numberIn, u16be, u32be } from "./big-endian.ts";
import { chainOfVerdict, type Expression, type Verdict, verdictData } from "./expressions.ts";

/** Our tables' name, in each family. */
export const TABLE = "plexus";

/** A chain, a map or an element is in a table of a family: of an IP version's packets, or of the frames of bridges. */
export interface Place {
  readonly family: 4 | 6 | "bridge";
  readonly table?: string;
}

export interface Hook {
  readonly type: "nat" | "filter";
  readonly hook: "prerouting" | "output" | "postrouting";
  readonly priority: number;
}

export interface VerdictMap {
  readonly name: string;
  /** nft's numbers of the key's types, by which it prints keys. */
  readonly types: readonly number[];
  readonly keySize: number;
}

export interface Element {
  readonly map: string;
  readonly key: Uint8Array;
  readonly verdict: Verdict;
}

/** A rule as the kernel tells it. */
export interface ReadRule {
  readonly chain: string;
  readonly handle: Uint8Array;
  readonly expressions: readonly Expression[];
  readonly comment: string;
}

export interface ReadChain {
  readonly table: string;
  readonly name: string;
  /** Its rules, and the verdicts that lead to it. */
  readonly uses: number;
  readonly hooked: boolean;
}

export interface ReadElement {
  readonly key: Uint8Array;
  /** The chain that it leads to. */
  readonly chain: string | undefined;
}

/** Packets of one IP version. */
export interface IpPlace extends Place {
  readonly family: 4 | 6;
}

const AF = { 4: 2, 6: 10, bridge: 7 } as const;
const NF_TABLES = 10;
const BATCH_BEGIN = 0x10;
const BATCH_END = 0x11;
const type = (message: number): number => (NF_TABLES << 8) | message;
const NEWTABLE = type(0);
const NEWCHAIN = type(3);
const GETCHAIN = type(4);
const DELCHAIN = type(5);
const NEWRULE = type(6);
const GETRULE = type(7);
const DELRULE = type(8);
const NEWSET = type(9);
const NEWSETELEM = type(12);
const GETSETELEM = type(13);
const DELSETELEM = type(14);
const GETGEN = type(16);
const NLM_F_DUMP = 0x300;
const EXCLUSIVE = 0x600;
const CREATE = 0x400;
const APPEND = 0xc00;
const LIST_ELEMENT = 1;
const MAP_OF_VERDICTS = 8;
const VERDICT_TYPE = 0xffff_ff00;
const GENERIC_HEADER = 4;
const hooks = { prerouting: 0, output: 3, postrouting: 4 } as const;
/** The kernel keeps at most 256 bytes with a rule. */
const COMMENT_BYTES = 250;

function request(message: number, flags: number, family: number, ...attributes: readonly Uint8Array[]): NetlinkRequest {
  return { type: message, flags, body: concat([Uint8Array.of(family, 0, 0, 0), ...attributes]) };
}

const text = (kind: number, value: string): Uint8Array => attribute(kind, new TextEncoder().encode(`${value}\0`));
const within = (kind: number, place: Place): Uint8Array => text(kind, place.table ?? TABLE);

/** Wraps changes up so that all of them come into force at once, or none does. `commit: false`: none does, but each is tried. */
export function batch(changes: readonly NetlinkRequest[], commit = true): readonly NetlinkRequest[] {
  return [edge(BATCH_BEGIN), ...changes, ...(commit ? [edge(BATCH_END)] : [])];
}

function edge(message: number): NetlinkRequest {
  return { type: message, flags: 0, quiet: true, body: concat([u16(0), u16be(NF_TABLES)]) };
}

/** Asks whether there is an nf_tables at all. */
export function generationRequest(): NetlinkRequest {
  return request(GETGEN, 0, 0);
}

/** Makes the table unless it is there. */
export function newTable(place: Place): NetlinkRequest {
  return request(NEWTABLE, CREATE, AF[place.family], within(1, place));
}

/** Makes a chain. `hook`: packets come to it. A chain with a hook may be there; another one may not unless `shared`. */
export function newChain(place: Place, name: string, more: { hook?: Hook; shared?: boolean } = {}): NetlinkRequest {
  const { hook, shared = hook !== undefined } = more;
  const hooked =
    hook === undefined
      ? []
      : [
          attribute(4, concat([attribute(1, u32be(hooks[hook.hook])), attribute(2, u32be(hook.priority >>> 0))])),
          text(7, hook.type),
        ];
  return request(NEWCHAIN, shared ? CREATE : EXCLUSIVE, AF[place.family], within(1, place), text(3, name), ...hooked);
}

/** Removes an empty chain. */
export function deleteChain(place: Place, name: string): NetlinkRequest {
  return request(DELCHAIN, 0, AF[place.family], within(1, place), text(3, name));
}

/** Adds a rule at a chain's end. */
export function newRule(place: Place, chain: string, expressions: readonly Expression[], comment = ""): NetlinkRequest {
  const list = expressions.map(({ name, data }) => attribute(LIST_ELEMENT, concat([text(1, name), attribute(2, data)])));
  const said = comment === "" ? [] : [attribute(7, commentBytes(comment))];
  return request(NEWRULE, APPEND, AF[place.family], within(1, place), text(2, chain), attribute(4, concat(list)), ...said);
}

/** Removes one rule, or all of a chain. */
export function deleteRules(place: Place, chain: string, handle?: Uint8Array): NetlinkRequest {
  const one = handle === undefined ? [] : [attribute(3, handle)];
  return request(DELRULE, 0, AF[place.family], within(1, place), text(2, chain), ...one);
}

/** Makes a map from keys to verdicts unless it is there. `id`: a number of its own in the batch. */
export function newMap(place: Place, { name, types, keySize }: VerdictMap, id: number): NetlinkRequest {
  const key = types.reduce((all, one) => all * 64 + one, 0);
  return request(
    NEWSET,
    CREATE,
    AF[place.family],
    within(1, place),
    text(2, name),
    attribute(3, u32be(MAP_OF_VERDICTS)),
    attribute(4, u32be(key)),
    attribute(5, u32be(keySize)),
    attribute(6, u32be(VERDICT_TYPE)),
    attribute(7, u32be(0)),
    attribute(10, u32be(id)),
  );
}

/** Adds an element. One of this key that is there stays; with another verdict it is an error (EEXIST). */
export function newElement(place: Place, { map, key, verdict }: Element): NetlinkRequest {
  const element = concat([attribute(1, attribute(1, key)), attribute(2, verdictData(verdict))]);
  return elementRequest(NEWSETELEM, CREATE, place, map, element);
}

/** Removes the element of a key. */
export function deleteElement(place: Place, map: string, key: Uint8Array): NetlinkRequest {
  return elementRequest(DELSETELEM, 0, place, map, attribute(1, attribute(1, key)));
}

/** Asks for the element of a key; for all where there is no key. */
export function elementsRequest(place: Place, map: string, key?: Uint8Array): NetlinkRequest {
  if (key !== undefined) return elementRequest(GETSETELEM, 0, place, map, attribute(1, attribute(1, key)));
  return request(GETSETELEM, NLM_F_DUMP, AF[place.family], within(1, place), text(2, map));
}

function elementRequest(message: number, flags: number, place: Place, map: string, element: Uint8Array): NetlinkRequest {
  const list = attribute(3, attribute(LIST_ELEMENT, element));
  return request(message, flags, AF[place.family], within(1, place), text(2, map), list);
}

/** Asks for one chain; for all of the family, in all tables, where there is no name. */
export function chainsRequest(place: Place, name?: string): NetlinkRequest {
  if (name === undefined) return request(GETCHAIN, NLM_F_DUMP, AF[place.family]);
  return request(GETCHAIN, 0, AF[place.family], within(1, place), text(3, name));
}

/** Asks for the rules of a chain. */
export function rulesRequest(place: Place, chain: string): NetlinkRequest {
  return request(GETRULE, NLM_F_DUMP, AF[place.family], within(1, place), text(2, chain));
}

interface Message {
  readonly type: number;
  readonly body: Uint8Array;
}

const attributesOf = ({ body }: Message): Attributes => new Attributes(body, GENERIC_HEADER);

/** A chain, or undefined where the message tells something else. */
export function chainIn(message: Message): ReadChain | undefined {
  if (message.type !== NEWCHAIN) return undefined;
  const told = attributesOf(message);
  return {
    table: told.text(1),
    name: told.text(3),
    uses: numberIn(told.get(6)),
    hooked: told.has(4),
  };
}

/** A rule, or undefined where the message tells something else. */
export function ruleIn(message: Message): ReadRule | undefined {
  if (message.type !== NEWRULE) return undefined;
  const told = attributesOf(message);
  const expressions = listIn(told.get(4)).map((each): Expression => {
    const parts = attributesIn(each);
    return { name: parts.text(1), data: parts.get(2) ?? new Uint8Array(0) };
  });
  return { chain: told.text(2), handle: told.get(3) ?? new Uint8Array(0), expressions, comment: commentIn(told.get(7)) };
}

/** The elements that a message tells. */
export function elementsIn(message: Message): readonly ReadElement[] {
  if (message.type !== NEWSETELEM) return [];
  return listIn(attributesOf(message).get(3)).map((each) => {
    const parts = attributesIn(each);
    const key = parts.within(1).get(1) ?? new Uint8Array(0);
    return { key, chain: chainOfVerdict(parts.get(2)) };
  });
}

/** The elements of a list, all of one type. */
function listIn(bytes: Uint8Array | undefined): readonly Uint8Array[] {
  const found: Uint8Array[] = [];
  for (let rest = bytes ?? new Uint8Array(0); rest.length >= 4;) {
    const length = new DataView(rest.buffer, rest.byteOffset).getUint16(0, u16(1)[0] === 1);
    if (length < 4 || length > rest.length) break;
    found.push(rest.subarray(4, length));
    rest = rest.subarray((length + 3) & ~3);
  }
  return found;
}

/** User data as nft writes comments: type 0, size, text, NUL. What is too long is cut, and what would not survive nft's quotes is left out. */
function commentBytes(comment: string): Uint8Array {
  // oxlint-disable-next-line no-control-regex -- these are what is to go
  const clean = comment.replaceAll(/["\u0000-\u001f\u007f]/g, "");
  const bytes = new Uint8Array(COMMENT_BYTES);
  const { written } = new TextEncoder().encodeInto(clean, bytes);
  return concat([Uint8Array.of(0, written + 1), bytes.subarray(0, written), Uint8Array.of(0)]);
}

/** The comment in user data, empty where there is none. */
function commentIn(bytes: Uint8Array | undefined): string {
  for (let rest = bytes ?? new Uint8Array(0); rest.length >= 2; rest = rest.subarray(2 + (rest[1] ?? 0))) {
    if (rest[0] === 0) return textIn(rest.subarray(2, 2 + (rest[1] ?? 0)));
  }
  return "";
}
