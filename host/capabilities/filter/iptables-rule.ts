// Rules in the form in which iptables(8) makes them in nftables, so that iptables lists and compares them: with its matches `comment` and `conntrack`, and
// a counter. Rules of another form make iptables call the whole table incompatible. No I/O.

import type { IpAddress } from "../../../src/net/ip.ts";
import { attribute, attributesIn, textIn } from "../../system/netlink/message.ts";
import { concat } from "../../system/netlink/bytes.ts";
import { u32be } from "../firewall/big-endian.ts";
import { type Expression, sameExpressions, type Verdict, verdictExpression } from "../firewall/expressions.ts";
import { addressIn, linkNamed } from "../firewall/match-expressions.ts";
import { addressOf } from "../firewall/packet-values.ts";
import type { ReadRule } from "../firewall/nf-answers.ts";

/** One rule of iptables. All present conditions must hold. */
export interface IptablesRule {
  readonly source?: IpAddress;
  readonly destination?: IpAddress;
  readonly incoming?: string;
  readonly outgoing?: { readonly name: string; readonly operation: "is" | "is not" };
  /** Whether the packet must belong to a known connection, or one related to it. */
  readonly isKnown?: boolean;
  readonly comment?: string;
  readonly verdict: Verdict;
}

/** Size of `xt_comment_info`. */
const COMMENT_BYTES = 256;
/** Size of `xt_conntrack_mtinfo3`, aligned. */
const CONNTRACK_BYTES = 168;
/** Indices of 16-bit members of `xt_conntrack_mtinfo3`, and their values. */
const [MATCH_FLAGS_AT, STATE_MASK_AT] = [73, 75];
const XT_CONNTRACK_STATE = 1;
const ESTABLISHED_OR_RELATED = 6;

/** Attributes of a comparison: its data (NFTA_CMP_DATA), and the value in them (NFTA_DATA_VALUE). */
const COMPARED = 3;
const VALUE = 1;
const MATCH_NAME = 1;
const MATCH_REVISION = 2;
const MATCH_DATA = 3;

/** The rule's expressions. */
export function expressionsOf(rule: IptablesRule): readonly Expression[] {
  const { source, destination, incoming, outgoing, isKnown = false, comment, verdict } = rule;
  return [
    ...(incoming === undefined ? [] : linkNamed("in", "is", incoming)),
    ...(outgoing === undefined ? [] : linkNamed("out", outgoing.operation, outgoing.name)),
    ...(source === undefined ? [] : addressIn("source", "is", source)),
    ...(destination === undefined ? [] : addressIn("destination", "is", destination)),
    ...(isKnown ? [match("conntrack", 3, knownConnection())] : []),
    ...(comment === undefined ? [] : [match("comment", 0, commentInfo(comment))]),
    { name: "counter", data: new Uint8Array(0) },
    verdictExpression(verdict),
  ];
}

/** Whether an installed rule is this one. `comment`: the comment that nft shows; some releases of iptables write it in place of the match. */
export function isRule(rule: IptablesRule, installed: ReadRule): boolean {
  const { comment, ...conditions } = rule;
  const rest = installed.expressions.filter((each) => !isComment(each));
  return commentOf(installed) === (comment ?? "") && sameExpressions(expressionsOf(conditions), rest);
}

/** The comment of an installed rule; empty for none. */
export function commentOf({ expressions, comment }: ReadRule): string {
  const found = expressions.find(isComment);
  return found === undefined ? comment : textIn(attributesIn(found.data).get(MATCH_DATA));
}

/** The source address that an installed rule accepts alone; undefined for a rule with another first condition. */
export function sourceOf({ expressions }: Pick<ReadRule, "expressions">): IpAddress | undefined {
  const [load, compare] = expressions;
  const bytes = compare?.name === "cmp" ? attributesIn(compare.data).within(COMPARED).get(VALUE) : undefined;
  if (load === undefined || compare === undefined || (bytes?.length !== 4 && bytes?.length !== 16)) return undefined;
  const address = addressOf(bytes);
  return sameExpressions(addressIn("source", "is", address), [load, compare]) ? address : undefined;
}

function isComment({ name, data }: Expression): boolean {
  return name === "match" && attributesIn(data).text(MATCH_NAME) === "comment";
}

function match(name: string, revision: number, info: Uint8Array): Expression {
  const zeroEnded = new TextEncoder().encode(`${name}\0`);
  return {
    name: "match",
    data: concat([attribute(MATCH_NAME, zeroEnded), attribute(MATCH_REVISION, u32be(revision)), attribute(MATCH_DATA, info)]),
  };
}

function commentInfo(comment: string): Uint8Array {
  const bytes = new Uint8Array(COMMENT_BYTES);
  new TextEncoder().encodeInto(comment, bytes.subarray(0, COMMENT_BYTES - 1));
  return bytes;
}

function knownConnection(): Uint8Array {
  const members = new Uint16Array(CONNTRACK_BYTES / 2);
  members[MATCH_FLAGS_AT] = XT_CONNTRACK_STATE;
  members[STATE_MASK_AT] = ESTABLISHED_OR_RELATED;
  return new Uint8Array(members.buffer);
}
