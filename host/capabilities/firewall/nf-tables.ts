// The codec of nf_tables messages (linux/netfilter/nf_tables.h): making, removing, requesting and reading tables, chains, rules, sets, maps and
// their elements. No I/O.

import { attribute, attributesIn, textIn, Attributes } from "../../system/netlink/attributes.ts";
import { concat, u16 } from "../../system/netlink/bytes.ts";
import type { NetlinkRequest } from "../../system/netlink/message.ts";
import { numberIn, u16be, u32be, u64be } from "./big-endian.ts";
import { chainOfVerdict, type Expression, type Verdict, verdictData } from "./expressions.ts";

/** The name of Plexus's table in each family. */
export const PLEXUS_TABLE = "plexus";

/** A table: its family is packets of one IP version, of both (`inet`), frames of bridges, or all that single devices receive and send (`netdev`). */
export interface Table {
  readonly family: 4 | 6 | "inet" | "bridge" | "netdev";
  /** Absent: `plexus`. */
  readonly name?: string;
}

/** The hook of a base chain: the kernel calls chains with a lower priority first. */
export interface Hook {
  readonly type: "nat" | "filter";
  readonly hook: "prerouting" | "input" | "forward" | "output" | "postrouting" | "ingress" | "egress";
  readonly priority: number;
  /** The device of a chain in a table of `netdev`. */
  readonly device?: string;
}

/** A map whose values are verdicts. */
export interface VerdictMap {
  readonly name: string;
  /** The key's types by nft's numbers: nft prints keys by them. */
  readonly types: readonly number[];
  readonly keySize: number;
}

/** A set of keys. */
export interface KeySet extends VerdictMap {
  /** Whether elements are ranges: an element begins a range, and an element with the end's flag ends the range before it. */
  readonly isInterval: boolean;
  /** Maximum elements of a set to which rules add elements, which time out; absent: rules only look the set up. */
  readonly maxNoted?: number;
}

/** An element of a set. `isEnd`: the first key behind a range. */
export interface SetElement {
  readonly key: Uint8Array;
  readonly isEnd: boolean;
}

/** An element to add to a verdict map. */
export interface Element {
  readonly map: string;
  readonly key: Uint8Array;
  readonly verdict: Verdict;
}

/** A rule as the kernel lists it. */
export interface ReadRule {
  readonly chain: string;
  readonly handle: Uint8Array;
  readonly expressions: readonly Expression[];
  readonly comment: string;
}

/** A chain as the kernel lists it. */
export interface ReadChain {
  readonly tableName: string;
  readonly name: string;
  /** The kernel's use count: the chain's rules and the verdicts that jump to it. */
  readonly uses: number;
  readonly hooked: boolean;
}

/** A verdict map's element as the kernel lists it. */
export interface ReadElement {
  readonly key: Uint8Array;
  /** The chain that its verdict jumps to; undefined for another verdict. */
  readonly chain: string | undefined;
}

/** A table for packets of one IP version. */
export interface IpTable extends Table {
  readonly family: 4 | 6;
}

const AF = { 4: 2, 6: 10, inet: 1, netdev: 5, bridge: 7 } as const;
const NF_TABLES = 10;
const BATCH_BEGIN = 0x10;
const BATCH_END = 0x11;
const type = (message: number): number => (NF_TABLES << 8) | message;
const NEWTABLE = type(0);
const GETTABLE = type(1);
const DELTABLE = type(2);
const NEWCHAIN = type(3);
const GETCHAIN = type(4);
const DELCHAIN = type(5);
const NEWRULE = type(6);
const GETRULE = type(7);
const DELRULE = type(8);
const NEWSET = type(9);
const GETSET = type(10);
const DELSET = type(11);
const NEWSETELEM = type(12);
const GETSETELEM = type(13);
const DELSETELEM = type(14);
const NEWGEN = type(15);
const GETGEN = type(16);
const NLM_F_DUMP = 0x300;
const EXCLUSIVE = 0x600;
const CREATE = 0x400;
const APPEND = 0xc00;
const LIST_ELEMENT = 1;
const SET_OF_INTERVALS = 4;
const MAP_OF_VERDICTS = 8;
const SET_WITH_TIMEOUTS = 0x10;
const SET_FOR_RULES = 0x20;
const INTERVAL_END = 1;
/** An attribute has at most 65,535 bytes, and an element at most 52. */
const ELEMENTS_IN_MESSAGE = 1000;
const VERDICT_TYPE = 0xffff_ff00;
const GENERIC_HEADER = 4;
const hooks = { prerouting: 0, input: 1, forward: 2, output: 3, postrouting: 4, ingress: 0, egress: 1 } as const;
/** The kernel keeps at most 256 bytes with a rule. */
const COMMENT_BYTES = 250;

function request(message: number, flags: number, family: number, ...attributes: readonly Uint8Array[]): NetlinkRequest {
  return { type: message, flags, body: concat([Uint8Array.of(family, 0, 0, 0), ...attributes]) };
}

const text = (kind: number, value: string): Uint8Array => attribute(kind, new TextEncoder().encode(`${value}\0`));
const within = (kind: number, table: Table): Uint8Array => text(kind, table.name ?? PLEXUS_TABLE);

/**
 * Makes changes one batch: all of them come into force at once, or none does. `commit: false`: the kernel checks them and applies none. `generation`: the
 * kernel refuses the batch with ERESTART if the rule set has another generation.
 */
export function batch(changes: readonly NetlinkRequest[], commit = true, generation?: number): readonly NetlinkRequest[] {
  return [edge(BATCH_BEGIN, generation), ...changes, ...(commit ? [edge(BATCH_END)] : [])];
}

function edge(message: number, generation?: number): NetlinkRequest {
  const condition = generation === undefined ? [] : [attribute(1, u32be(generation))];
  return { type: message, flags: 0, quiet: true, body: concat([u16(0), u16be(NF_TABLES), ...condition]) };
}

/** Requests the rule set's generation. A kernel without nf_tables refuses. */
export function generationRequest(): NetlinkRequest {
  return request(GETGEN, 0, 0);
}

/** The generation of the rule set in a message; undefined for a message of another type. */
export function generationIn(message: Message): number | undefined {
  return message.type === NEWGEN ? numberIn(attributesOf(message).get(1)) : undefined;
}

/** Makes the table unless it exists; with `exclusive`, the kernel refuses if it exists (EEXIST). */
export function newTable(table: Table, exclusive = false): NetlinkRequest {
  return request(NEWTABLE, exclusive ? EXCLUSIVE : CREATE, AF[table.family], within(1, table));
}

/** Removes all rules of the table. Chains and sets stay. */
export function flushTable(table: Table): NetlinkRequest {
  return request(DELRULE, 0, AF[table.family], within(1, table));
}

/** Removes a set that no rule names. */
export function deleteSet(table: Table, name: string): NetlinkRequest {
  return request(DELSET, 0, AF[table.family], within(1, table), text(2, name));
}

/** Requests all tables of a family. */
export function tablesRequest(family: Table["family"]): NetlinkRequest {
  return request(GETTABLE, NLM_F_DUMP, AF[family]);
}

/** Requests all sets of a table. */
export function setsRequest(table: Table): NetlinkRequest {
  return request(GETSET, NLM_F_DUMP, AF[table.family], within(1, table));
}

/** The name of the table in a message; undefined for a message of another type. */
export function tableNameIn(message: Message): string | undefined {
  return message.type === NEWTABLE ? attributesOf(message).text(1) : undefined;
}

/** The name of the set in a message; undefined for a message of another type. */
export function setNameIn(message: Message): string | undefined {
  return message.type === NEWSET ? attributesOf(message).text(2) : undefined;
}

/** Removes the table, with all that it has. */
export function deleteTable(table: Table): NetlinkRequest {
  return request(DELTABLE, 0, AF[table.family], within(1, table));
}

/** Makes a chain; with a `hook`, a base chain. `shared`: the chain may exist already, which is the default for a base chain. */
export function newChain(table: Table, name: string, options: { hook?: Hook; shared?: boolean } = {}): NetlinkRequest {
  const { hook, shared = hook !== undefined } = options;
  const hooked =
    hook === undefined
      ? []
      : [
          attribute(
            4,
            concat([
              attribute(1, u32be(hooks[hook.hook])),
              attribute(2, u32be(hook.priority >>> 0)),
              ...(hook.device === undefined ? [] : [text(3, hook.device)]),
            ]),
          ),
          text(7, hook.type),
        ];
  return request(NEWCHAIN, shared ? CREATE : EXCLUSIVE, AF[table.family], within(1, table), text(3, name), ...hooked);
}

/** Removes an empty chain. */
export function deleteChain(table: Table, name: string): NetlinkRequest {
  return request(DELCHAIN, 0, AF[table.family], within(1, table), text(3, name));
}

/** Adds a rule at the end of a chain, or at its begin. */
export function newRule(
  table: Table,
  chain: string,
  expressions: readonly Expression[],
  comment = "",
  at: "begin" | "end" = "end",
): NetlinkRequest {
  const list = expressions.map(({ name, data }) => attribute(LIST_ELEMENT, concat([text(1, name), attribute(2, data)])));
  const userData = comment === "" ? [] : [attribute(7, commentBytes(comment))];
  const place = at === "end" ? APPEND : CREATE;
  return request(NEWRULE, place, AF[table.family], within(1, table), text(2, chain), attribute(4, concat(list)), ...userData);
}

/** Removes the rule with this handle; without a handle, all rules of the chain. */
export function deleteRules(table: Table, chain: string, handle?: Uint8Array): NetlinkRequest {
  const rule = handle === undefined ? [] : [attribute(3, handle)];
  return request(DELRULE, 0, AF[table.family], within(1, table), text(2, chain), ...rule);
}

/** Makes a set unless it exists. `id`: a number that is unique in the batch. */
export function newSet(table: Table, { name, types, keySize, isInterval, maxNoted }: KeySet, id: number): NetlinkRequest {
  const noted = maxNoted === undefined ? 0 : SET_WITH_TIMEOUTS | SET_FOR_RULES;
  const bound = maxNoted === undefined ? [] : [attribute(9, attribute(1, u32be(maxNoted)))];
  return request(
    NEWSET,
    CREATE,
    AF[table.family],
    within(1, table),
    text(2, name),
    attribute(3, u32be(isInterval ? SET_OF_INTERVALS : noted)),
    attribute(4, u32be(keyType(types))),
    attribute(5, u32be(keySize)),
    attribute(10, u32be(id)),
    ...bound,
  );
}

/** Adds elements to a set, or removes them: one message for each thousand. */
export function setElements(
  table: Table,
  set: string,
  action: "add" | "remove",
  elements: readonly SetElement[],
): readonly NetlinkRequest[] {
  const requests: NetlinkRequest[] = [];
  for (let from = 0; from < elements.length; from += ELEMENTS_IN_MESSAGE) {
    const list = elements.slice(from, from + ELEMENTS_IN_MESSAGE).map(({ key, isEnd }) => {
      const flags = isEnd ? [attribute(3, u32be(INTERVAL_END))] : [];
      return attribute(LIST_ELEMENT, concat([attribute(1, attribute(1, key)), ...flags]));
    });
    const [message, flags] = action === "add" ? [NEWSETELEM, CREATE] : [DELSETELEM, 0];
    requests.push(request(message, flags, AF[table.family], within(1, table), text(2, set), attribute(3, concat(list))));
  }
  return requests;
}

/** The type of a key of several fields: six bits for each. */
function keyType(types: readonly number[]): number {
  return types.reduce((all, each) => all * 64 + each, 0);
}

/** Makes a map from keys to verdicts unless it exists. `id`: a number that is unique in the batch. */
export function newMap(table: Table, map: VerdictMap, id: number): NetlinkRequest {
  return mapRequest(table, map, { flags: MAP_OF_VERDICTS, dataType: VERDICT_TYPE, dataSize: 0 }, id);
}

function mapRequest(
  table: Table,
  { name, types, keySize }: VerdictMap,
  { flags, dataType, dataSize }: { readonly flags: number; readonly dataType: number; readonly dataSize: number },
  id: number,
  ...more: readonly Uint8Array[]
): NetlinkRequest {
  return request(
    NEWSET,
    CREATE,
    AF[table.family],
    within(1, table),
    text(2, name),
    attribute(3, u32be(flags)),
    attribute(4, u32be(keyType(types))),
    attribute(5, u32be(keySize)),
    attribute(6, u32be(dataType)),
    attribute(7, u32be(dataSize)),
    attribute(10, u32be(id)),
    ...more,
  );
}

/** A map whose values are data, such as an address and a port. */
export interface DataMap extends VerdictMap {
  /** The values' types by nft's numbers, and their size in bytes. */
  readonly dataTypes: readonly number[];
  readonly dataSize: number;
}

/** Makes a map of data unless it exists. `id`: a number that is unique in the batch. `kept`: rules add elements, at most so many, that time out. */
export function newDataMap(table: Table, map: DataMap, id: number, kept?: { readonly maxElements: number }): NetlinkRequest {
  const flags = kept === undefined ? MAP_OF_VERDICTS : MAP_OF_VERDICTS | SET_WITH_TIMEOUTS | SET_FOR_RULES;
  const bound = kept === undefined ? [] : [attribute(9, attribute(1, u32be(kept.maxElements)))];
  return mapRequest(table, map, { flags, dataType: keyType(map.dataTypes), dataSize: map.dataSize }, id, ...bound);
}

/** An element of a map of data. */
export interface DataElement {
  readonly key: Uint8Array;
  readonly data: Uint8Array;
  /** The whole time of an element that times out, and the time that is left to it, in ms. */
  readonly times?: { readonly wholeMs: number; readonly leftMs: number };
}

/** Adds elements to a map of data: one message for each thousand. */
export function dataElements(table: Table, map: string, elements: readonly DataElement[]): readonly NetlinkRequest[] {
  const requests: NetlinkRequest[] = [];
  for (let from = 0; from < elements.length; from += ELEMENTS_IN_MESSAGE) {
    const list = elements.slice(from, from + ELEMENTS_IN_MESSAGE).map(({ key, data, times }) => {
      const timing = times === undefined ? [] : [attribute(4, u64be(times.wholeMs)), attribute(5, u64be(times.leftMs))];
      return attribute(LIST_ELEMENT, concat([attribute(1, attribute(1, key)), attribute(2, attribute(1, data)), ...timing]));
    });
    requests.push(request(NEWSETELEM, CREATE, AF[table.family], within(1, table), text(2, map), attribute(3, concat(list))));
  }
  return requests;
}

/** The elements of a map of data in a message; none for a message of another type. */
export function dataElementsIn(message: Message): readonly DataElement[] {
  if (message.type !== NEWSETELEM) return [];
  return listIn(attributesOf(message).get(3)).flatMap((each) => {
    const parts = attributesIn(each);
    const [key, data] = [parts.within(1).get(1), parts.within(2).get(1)];
    if (key === undefined || data === undefined) return [];
    const [wholeMs, leftMs] = [numberIn(parts.get(4)), numberIn(parts.get(5))];
    return [{ key, data, ...(leftMs > 0 ? { times: { wholeMs: Math.max(wholeMs, leftMs), leftMs } } : {}) }];
  });
}

/** Adds an element. An existing element of the key stays; the kernel refuses another verdict for it (EEXIST). */
export function newElement(table: Table, { map, key, verdict }: Element): NetlinkRequest {
  const element = concat([attribute(1, attribute(1, key)), attribute(2, verdictData(verdict))]);
  return elementRequest(NEWSETELEM, CREATE, table, map, element);
}

/** Removes the element of a key. */
export function deleteElement(table: Table, map: string, key: Uint8Array): NetlinkRequest {
  return elementRequest(DELSETELEM, 0, table, map, attribute(1, attribute(1, key)));
}

/** Requests the element of a key, or all elements without a key. */
export function elementsRequest(table: Table, map: string, key?: Uint8Array): NetlinkRequest {
  if (key !== undefined) return elementRequest(GETSETELEM, 0, table, map, attribute(1, attribute(1, key)));
  return request(GETSETELEM, NLM_F_DUMP, AF[table.family], within(1, table), text(2, map));
}

function elementRequest(message: number, flags: number, table: Table, map: string, element: Uint8Array): NetlinkRequest {
  const list = attribute(3, attribute(LIST_ELEMENT, element));
  return request(message, flags, AF[table.family], within(1, table), text(2, map), list);
}

/** Requests one chain, or without a name all chains of the family, in all tables. */
export function chainsRequest(table: Table, name?: string): NetlinkRequest {
  if (name === undefined) return request(GETCHAIN, NLM_F_DUMP, AF[table.family]);
  return request(GETCHAIN, 0, AF[table.family], within(1, table), text(3, name));
}

/** Requests the rules of a chain. */
export function rulesRequest(table: Table, chain: string): NetlinkRequest {
  return request(GETRULE, NLM_F_DUMP, AF[table.family], within(1, table), text(2, chain));
}

interface Message {
  readonly type: number;
  readonly body: Uint8Array;
}

const attributesOf = ({ body }: Message): Attributes => new Attributes(body, GENERIC_HEADER);

/** The chain in a message; undefined for a message of another type. */
export function chainIn(message: Message): ReadChain | undefined {
  if (message.type !== NEWCHAIN) return undefined;
  const attributes = attributesOf(message);
  return {
    tableName: attributes.text(1),
    name: attributes.text(3),
    uses: numberIn(attributes.get(6)),
    hooked: attributes.has(4),
  };
}

/** The rule in a message; undefined for a message of another type. */
export function ruleIn(message: Message): ReadRule | undefined {
  if (message.type !== NEWRULE) return undefined;
  const attributes = attributesOf(message);
  const expressions = listIn(attributes.get(4)).map((each): Expression => {
    const parts = attributesIn(each);
    return { name: parts.text(1), data: parts.get(2) ?? new Uint8Array(0) };
  });
  const handle = attributes.get(3) ?? new Uint8Array(0);
  return { chain: attributes.text(2), handle, expressions, comment: commentIn(attributes.get(7)) };
}

/** The elements in a message; none for a message of another type. */
export function elementsIn(message: Message): readonly ReadElement[] {
  if (message.type !== NEWSETELEM) return [];
  return listIn(attributesOf(message).get(3)).map((each) => {
    const parts = attributesIn(each);
    const key = parts.within(1).get(1) ?? new Uint8Array(0);
    return { key, chain: chainOfVerdict(parts.get(2)) };
  });
}

/** The values of nested attributes of one type. */
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

/** A comment as nft's user data: type 0, size, text, NUL. Long text is cut; quotes and control characters are left out, because nft cannot quote them. */
function commentBytes(comment: string): Uint8Array {
  // oxlint-disable-next-line no-control-regex -- these characters are removed
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
