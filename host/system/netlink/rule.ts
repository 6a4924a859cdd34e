// Policy rules of RTM_GETRULE, and the messages that add and remove one (linux/fib_rules.h).

import { type Cidr, formatCidr, networkOf } from "../../../src/net/ip.ts";
import { attribute, Attributes, u32Attribute, type NetlinkRequest } from "./message.ts";
import { AF_INET, AF_INET6, addressBytes, addressIn, familyNumber, concat, cString, u32, u32At } from "./bytes.ts";

/** The value of a packet's mark under a mask. */
export interface RuleMark {
  readonly value: number;
  readonly mask: number;
}

/** A policy rule that looks up a table. An absent condition is met by every packet. */
export interface RuleSpec {
  readonly family: 4 | 6;
  /** Undefined in an addition: the kernel chooses a priority before all rules but the first. */
  readonly priority: number | undefined;
  readonly source: Cidr | undefined;
  readonly destination: Cidr | undefined;
  readonly incomingLink: string | undefined;
  readonly outgoingLink: string | undefined;
  readonly mark: RuleMark | undefined;
  readonly table: number;
}

/** A rule as the kernel lists it. */
export interface Rule extends RuleSpec {
  readonly priority: number;
  /** Whether the rule looks up `table` and has no condition besides the members of `RuleSpec`. */
  readonly isWhole: boolean;
  /** The kernel's message, which names exactly this rule again. */
  readonly raw: Uint8Array;
}

const RTM_NEWRULE = 32;
const RTM_DELRULE = 33;
const RTM_GETRULE = 34;
const NLM_F_DUMP = 0x300;
const NLM_F_EXCL = 0x200;
const NLM_F_CREATE = 0x400;
const HEADER = 12;
const FR_ACT_TO_TBL = 1;
/** The header has one byte for the table. */
const RT_TABLE_UNSPEC = 0;
const FRA_DST = 1;
const FRA_SRC = 2;
const FRA_IIFNAME = 3;
const FRA_PRIORITY = 6;
const FRA_FWMARK = 10;
const FRA_FLOW = 11;
const FRA_SUPPRESS_PREFIXLEN = 14;
const FRA_TABLE = 15;
const FRA_FWMASK = 16;
const FRA_OIFNAME = 17;
const FRA_PAD = 18;
const FRA_PROTOCOL = 21;
/** The rule applies to packets that do not meet its conditions. */
const FIB_RULE_INVERT = 2;
/** The value of FRA_SUPPRESS_PREFIXLEN in a rule that suppresses no routes. */
const SUPPRESSES_NONE = 0xffff_ffff;
/** The kernel's mask where a rule names none. */
const WHOLE_MARK = 0xffff_ffff;
/** FRA_FLOW (the realm) and FRA_PROTOCOL (the origin) are no conditions. */
const READ: ReadonlySet<number> = new Set([
  FRA_DST,
  FRA_SRC,
  FRA_IIFNAME,
  FRA_PRIORITY,
  FRA_FWMARK,
  FRA_FLOW,
  FRA_SUPPRESS_PREFIXLEN,
  FRA_TABLE,
  FRA_FWMASK,
  FRA_OIFNAME,
  FRA_PAD,
  FRA_PROTOCOL,
]);

/** Requests the rules of a family, in the order in which the kernel applies them. */
export function rulesRequest(family: 4 | 6): NetlinkRequest {
  const body = new Uint8Array(HEADER);
  body[0] = familyNumber(family);
  return { type: RTM_GETRULE, flags: NLM_F_DUMP, body };
}

/** The rule in a message; undefined for a message of another type or family. */
export function ruleIn({ type, body }: { readonly type: number; readonly body: Uint8Array }): Rule | undefined {
  if (type !== RTM_NEWRULE || body.length < HEADER) return undefined;
  const [number, dstLength = 0, srcLength = 0, tos = 0, tableByte = 0, , , action = 0] = body;
  if (number !== AF_INET && number !== AF_INET6) return undefined;
  const family = number === AF_INET ? 4 : 6;
  const attributes = new Attributes(body, HEADER);
  const network = (which: number, prefix: number): Cidr | undefined => {
    const address = addressIn(attributes.get(which), family);
    return address === undefined ? undefined : { address, prefix };
  };
  const name = (which: number): string | undefined => attributes.text(which) || undefined;
  const suppressed = attributes.u32(FRA_SUPPRESS_PREFIXLEN) ?? SUPPRESSES_NONE;
  return {
    family,
    priority: attributes.u32(FRA_PRIORITY) ?? 0,
    source: network(FRA_SRC, srcLength),
    destination: network(FRA_DST, dstLength),
    incomingLink: name(FRA_IIFNAME),
    outgoingLink: name(FRA_OIFNAME),
    mark: markIn(attributes),
    table: attributes.u32(FRA_TABLE) ?? tableByte,
    isWhole:
      action === FR_ACT_TO_TBL &&
      tos === 0 &&
      (u32At(body, 8) & FIB_RULE_INVERT) === 0 &&
      suppressed === SUPPRESSES_NONE &&
      attributes.list().every(([each]) => READ.has(each)),
    raw: body.slice(),
  };
}

function markIn(attributes: Attributes): RuleMark | undefined {
  if (!attributes.has(FRA_FWMARK) && !attributes.has(FRA_FWMASK)) return undefined;
  return { value: attributes.u32(FRA_FWMARK) ?? 0, mask: attributes.u32(FRA_FWMASK) ?? WHOLE_MARK };
}

/** Adds a rule. The kernel refuses a rule that exists at the same priority (EEXIST). */
export function ruleAddition(rule: RuleSpec): NetlinkRequest {
  const { family, priority, source, destination, incomingLink, outgoingLink, mark, table } = rule;
  const byte = table > 255 ? RT_TABLE_UNSPEC : table;
  const header = [familyNumber(family), destination?.prefix ?? 0, source?.prefix ?? 0, 0, byte, 0, 0, FR_ACT_TO_TBL];
  const attributes = [
    ...networkAttribute(FRA_DST, destination),
    ...networkAttribute(FRA_SRC, source),
    ...(incomingLink === undefined ? [] : [attribute(FRA_IIFNAME, cString(incomingLink))]),
    ...(outgoingLink === undefined ? [] : [attribute(FRA_OIFNAME, cString(outgoingLink))]),
    ...(mark === undefined ? [] : [u32Attribute(FRA_FWMARK, mark.value), u32Attribute(FRA_FWMASK, mark.mask)]),
    ...(priority === undefined ? [] : [u32Attribute(FRA_PRIORITY, priority)]),
    ...(table > 255 ? [u32Attribute(FRA_TABLE, table)] : []),
  ];
  const body = concat([Uint8Array.from(header), u32(0), ...attributes]);
  return { type: RTM_NEWRULE, flags: NLM_F_CREATE | NLM_F_EXCL, body };
}

function networkAttribute(type: number, network: Cidr | undefined): readonly Uint8Array[] {
  return network === undefined ? [] : [attribute(type, addressBytes(networkOf(network).first))];
}

/** Removes a listed rule: the kernel compares all members that the message has. */
export function ruleRemoval({ raw }: Rule): NetlinkRequest {
  return { type: RTM_DELRULE, flags: 0, body: raw };
}

/** The rule in the notation of ip-rule(8), for messages: `from 10.1.0.5/32 lookup 100`. */
export function ruleText({ source, destination, incomingLink, outgoingLink, mark, priority, table }: RuleSpec): string {
  const parts = [
    `from ${source === undefined ? "all" : formatCidr(source)}`,
    destination && `to ${formatCidr(destination)}`,
    incomingLink && `iif ${incomingLink}`,
    outgoingLink && `oif ${outgoingLink}`,
    mark && `fwmark 0x${mark.value.toString(16)}/0x${mark.mask.toString(16)}`,
    `lookup ${table}`,
    priority !== undefined && `priority ${priority}`,
  ];
  return parts.filter(Boolean).join(" ");
}

/** Whether a listed rule has exactly the members of `rule`, at any priority if that names none. */
export function isRule(listed: Rule, rule: RuleSpec): boolean {
  return (
    listed.isWhole &&
    listed.family === rule.family &&
    listed.table === rule.table &&
    (rule.priority === undefined || listed.priority === rule.priority) &&
    networkKey(listed.source) === networkKey(rule.source) &&
    networkKey(listed.destination) === networkKey(rule.destination) &&
    listed.incomingLink === rule.incomingLink &&
    listed.outgoingLink === rule.outgoingLink &&
    listed.mark?.value === rule.mark?.value &&
    listed.mark?.mask === rule.mark?.mask
  );
}

/** The network without host bits; empty for none. */
function networkKey(network: Cidr | undefined): string {
  return network === undefined ? "" : formatCidr({ ...network, address: networkOf(network).first });
}
