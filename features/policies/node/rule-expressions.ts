// The conditions of a table's rules as expressions of the kernel.

import { type Expression, verdictExpression } from "../../../host/capabilities/firewall/expressions.ts";
import { isReply, stateIs } from "../../../host/capabilities/firewall/connection-expressions.ts";
import { addressInSet, portInSet } from "../../../host/capabilities/firewall/lookup-expressions.ts";
import {
  addressIn,
  familyIs,
  hopLimitIs,
  linkIs,
  messageTypeIn,
  portIn,
  protocolIs,
  vrfPortIs,
} from "../../../host/capabilities/firewall/match-expressions.ts";
import { addFields, bytesAre, ethertypeIs, fieldsInSet } from "../../../host/capabilities/firewall/field-expressions.ts";
import type { Family } from "../../../src/net/ip.ts";
import { ethertypes } from "../rules/flow-fields.ts";
import type { Match, TableRule } from "../rules/table.ts";

/** A table of a pod's namespace, or one at devices of the node. There a packet's IP version is its ethertype. */
export type RulePlace = "inet" | "netdev";

/** The expressions of a rule. */
export function ruleExpressions({ matches, end }: TableRule, place: RulePlace): readonly Expression[] {
  const verdict = end.kind === "continue" ? [] : [verdictExpression(end)];
  return [...matches.flatMap((match) => matchExpressions(match, place)), ...verdict];
}

function matchExpressions(match: Match, place: RulePlace): readonly Expression[] {
  const isFamily = (family: Family): readonly Expression[] =>
    place === "inet" ? familyIs(family) : ethertypeIs(ethertypes[family]);
  switch (match.kind) {
    case "interface":
      return linkIs(match.direction, match.name);
    case "vrf-port":
      return vrfPortIs(match.name);
    case "state":
      return stateIs(match.states);
    case "reply":
      return isReply();
    case "protocol":
      return protocolIs(match.protocol);
    case "port":
      return portIn(match.side, match.first, match.last);
    case "icmp-type":
      return messageTypeIn(match.first, match.last);
    case "hop-limit":
      return hopLimitIs(match.limit);
    case "network": {
      const { address, prefix } = match.network;
      return [...isFamily(address.family), ...addressIn(match.side, "is", address, prefix)];
    }
    case "set": {
      const inSet = match.of === "port" ? portInSet : addressInSet;
      return [...isFamily(match.family), ...inSet(match.family, match.side, match.set)];
    }
    case "ethertype":
      return ethertypeIs(match.value);
    case "bytes":
      return bytesAre(match.field, match.isNot, Uint8Array.from(match.value), match.mask && Uint8Array.from(match.mask));
    case "fields":
      return fieldsInSet(match.fields, match.set, match.isNot);
    case "note":
      return addFields(match.fields, match.set, match.seconds);
  }
}
