// The form of an nftables rule's expressions (linux/netfilter/nf_tables.h), and the expressions that give a verdict. They are encoded as the kernel
// lists them, so that installed rules can be compared with requested ones. No I/O.

import { attribute, attributesIn, textIn } from "../../system/netlink/message.ts";
import { concat } from "../../system/netlink/bytes.ts";
import { u32be } from "./big-endian.ts";

/** One expression of a rule. */
export interface Expression {
  readonly name: string;
  /** The encoded attributes. */
  readonly data: Uint8Array;
}

/** The verdict of a rule or of a map's element. */
export type Verdict = { readonly kind: "jump"; readonly chain: string } | { readonly kind: "return" | "accept" | "drop" };

/** The register of a rule's verdict (NFT_REG_VERDICT). */
export const VERDICT_REGISTER = 0;

const DATA_VALUE = 1;
const DATA_VERDICT = 2;
/** NFT_REJECT_ICMPX_PORT_UNREACH. */
const PORT_UNREACHABLE = 1;
/** AF_INET and AF_INET6. */
export const ADDRESS_FAMILY = { 4: 2, 6: 10 } as const;

/** An attribute with a number of 32 bits, in network byte order. */
export const numberAttribute = (type: number, value: number): Uint8Array => attribute(type, u32be(value));
/** An attribute with bytes that the kernel compares or loads (NFTA_DATA_VALUE). */
export const dataAttribute = (type: number, bytes: Uint8Array): Uint8Array => attribute(type, attribute(DATA_VALUE, bytes));

/** An expression with these attributes. */
export function expression(name: string, ...attributes: readonly Uint8Array[]): Expression {
  return { name, data: concat(attributes) };
}

/** Gives the verdict. */
export function verdictExpression(verdict: Verdict): Expression {
  return expression("immediate", numberAttribute(1, VERDICT_REGISTER), attribute(2, verdictData(verdict)));
}

/** Refuses the packet: a reset for TCP, otherwise a message that the port is unreachable. */
export function refusal(answer: "reset" | "unreachable"): Expression {
  return expression(
    "reject",
    numberAttribute(1, answer === "reset" ? 1 : 2),
    ...(answer === "reset" ? [] : [attribute(2, Uint8Array.of(PORT_UNREACHABLE))]),
  );
}

/** A verdict as the data of a map's element or of an immediate expression (NFTA_DATA_VERDICT). */
export function verdictData(verdict: Verdict): Uint8Array {
  const code = { drop: 0, accept: 1, jump: -3, return: -5 }[verdict.kind];
  const chain = verdict.kind === "jump" ? [attribute(2, zeroEnded(verdict.chain))] : [];
  return attribute(DATA_VERDICT, concat([attribute(1, u32be(code >>> 0)), ...chain]));
}

/** The chain that a verdict jumps or goes to; undefined for another verdict. */
export function chainOfVerdict(data: Uint8Array | undefined): string | undefined {
  const chain = attributesIn(data).within(DATA_VERDICT).get(2);
  return chain === undefined ? undefined : textIn(chain);
}

/** The chain that an immediate expression jumps or goes to; undefined for another expression. */
export function chainOfJump({ name, data }: Expression): string | undefined {
  return name === "immediate" ? chainOfVerdict(attributesIn(data).get(2)) : undefined;
}

/** Whether installed expressions are the requested ones. The kernel may list more attributes than were requested. */
export function sameExpressions(requested: readonly Expression[], installed: readonly Expression[]): boolean {
  return (
    requested.length === installed.length &&
    requested.every(({ name, data }, index) => {
      const other = installed[index];
      if (other?.name !== name) return false;
      const attributes = attributesIn(other.data);
      return [...attributesIn(data)].every(
        ([type, bytes]) => Buffer.compare(bytes, attributes.get(type) ?? new Uint8Array(0)) === 0,
      );
    })
  );
}

/** The text as the kernel's string. */
export function zeroEnded(text: string): Uint8Array {
  return new TextEncoder().encode(`${text}\0`);
}
