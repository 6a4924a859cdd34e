// Tables, chains, rules, sets and elements as the kernel lists them in nf_tables messages. No I/O.

import { Attributes, attributesIn, textIn } from "../../system/netlink/message.ts";
import { u16 } from "../../system/netlink/bytes.ts";
import { numberIn } from "./big-endian.ts";
import { chainOfVerdict, type Expression } from "./expressions.ts";
import { MESSAGE } from "./nf-request.ts";
import type { DataElement } from "./nf-sets.ts";

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

const GENERIC_HEADER = 4;

/** The generation of the rule set in a message; undefined for a message of another type. */
export function generationIn(message: Message): number | undefined {
  return message.type === MESSAGE.newGeneration ? numberIn(attributesOf(message).get(1)) : undefined;
}

/** The name of the table in a message; undefined for a message of another type. */
export function tableNameIn(message: Message): string | undefined {
  return message.type === MESSAGE.newTable ? attributesOf(message).text(1) : undefined;
}

/** The name of the set in a message; undefined for a message of another type. */
export function setNameIn(message: Message): string | undefined {
  return message.type === MESSAGE.newSet ? attributesOf(message).text(2) : undefined;
}

/** The elements of a map of data in a message; none for a message of another type. */
export function dataElementsIn(message: Message): readonly DataElement[] {
  if (message.type !== MESSAGE.newSetElement) return [];
  return listIn(attributesOf(message).get(3)).flatMap((each) => {
    const parts = attributesIn(each);
    const [key, data] = [parts.within(1).get(1), parts.within(2).get(1)];
    if (key === undefined || data === undefined) return [];
    const [wholeMs, leftMs] = [numberIn(parts.get(4)), numberIn(parts.get(5))];
    return [{ key, data, ...(leftMs > 0 ? { times: { wholeMs: Math.max(wholeMs, leftMs), leftMs } } : {}) }];
  });
}

interface Message {
  readonly type: number;
  readonly body: Uint8Array;
}

const attributesOf = ({ body }: Message): Attributes => new Attributes(body, GENERIC_HEADER);

/** The chain in a message; undefined for a message of another type. */
export function chainIn(message: Message): ReadChain | undefined {
  if (message.type !== MESSAGE.newChain) return undefined;
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
  if (message.type !== MESSAGE.newRule) return undefined;
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
  if (message.type !== MESSAGE.newSetElement) return [];
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

/** The comment in user data, empty where there is none. */
function commentIn(bytes: Uint8Array | undefined): string {
  for (let rest = bytes ?? new Uint8Array(0); rest.length >= 2; rest = rest.subarray(2 + (rest[1] ?? 0))) {
    if (rest[0] === 0) return textIn(rest.subarray(2, 2 + (rest[1] ?? 0)));
  }
  return "";
}
