// Requests for sets and maps of nf_tables, and for their elements. No I/O.

import { attribute, type NetlinkRequest } from "../../system/netlink/message.ts";
import { concat } from "../../system/netlink/bytes.ts";
import { u32be, u64be } from "./big-endian.ts";
import { type Verdict, verdictData } from "./expressions.ts";
import { CREATE, LIST_ELEMENT, MESSAGE, NLM_F_DUMP, type Table, tableRequest, textAttribute } from "./nf-request.ts";

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

const SET_OF_INTERVALS = 4;
const MAP_OF_VERDICTS = 8;
const SET_WITH_TIMEOUTS = 0x10;
const SET_FOR_RULES = 0x20;
const INTERVAL_END = 1;
/** An attribute has at most 65,535 bytes, and an element at most 52. */
const ELEMENTS_IN_MESSAGE = 1000;
const VERDICT_TYPE = 0xffff_ff00;

/** Removes a set that no rule names. */
export function deleteSet(table: Table, name: string): NetlinkRequest {
  return tableRequest(MESSAGE.delSet, 0, table, textAttribute(2, name));
}

/** Requests all sets of a table. */
export function setsRequest(table: Table): NetlinkRequest {
  return tableRequest(MESSAGE.getSet, NLM_F_DUMP, table);
}

/** Makes a set unless it exists. `id`: a number that is unique in the batch. */
export function newSet(table: Table, { name, types, keySize, isInterval, maxNoted }: KeySet, id: number): NetlinkRequest {
  const noted = maxNoted === undefined ? 0 : SET_WITH_TIMEOUTS | SET_FOR_RULES;
  const bound = maxNoted === undefined ? [] : [attribute(9, attribute(1, u32be(maxNoted)))];
  return tableRequest(
    MESSAGE.newSet,
    CREATE,
    table,
    textAttribute(2, name),
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
    const [message, flags] = action === "add" ? [MESSAGE.newSetElement, CREATE] : [MESSAGE.delSetElement, 0];
    requests.push(tableRequest(message, flags, table, textAttribute(2, set), attribute(3, concat(list))));
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
  return tableRequest(
    MESSAGE.newSet,
    CREATE,
    table,
    textAttribute(2, name),
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
    requests.push(tableRequest(MESSAGE.newSetElement, CREATE, table, textAttribute(2, map), attribute(3, concat(list))));
  }
  return requests;
}

/** Adds an element. An existing element of the key stays; the kernel refuses another verdict for it (EEXIST). */
export function newElement(table: Table, { map, key, verdict }: Element): NetlinkRequest {
  const element = concat([attribute(1, attribute(1, key)), attribute(2, verdictData(verdict))]);
  return elementRequest(MESSAGE.newSetElement, CREATE, table, map, element);
}

/** Removes the element of a key. */
export function deleteElement(table: Table, map: string, key: Uint8Array): NetlinkRequest {
  return elementRequest(MESSAGE.delSetElement, 0, table, map, attribute(1, attribute(1, key)));
}

/** Requests the element of a key, or all elements without a key. */
export function elementsRequest(table: Table, map: string, key?: Uint8Array): NetlinkRequest {
  if (key !== undefined) return elementRequest(MESSAGE.getSetElement, 0, table, map, attribute(1, attribute(1, key)));
  return tableRequest(MESSAGE.getSetElement, NLM_F_DUMP, table, textAttribute(2, map));
}

function elementRequest(message: number, flags: number, table: Table, map: string, element: Uint8Array): NetlinkRequest {
  const list = attribute(3, attribute(LIST_ELEMENT, element));
  return tableRequest(message, flags, table, textAttribute(2, map), list);
}
