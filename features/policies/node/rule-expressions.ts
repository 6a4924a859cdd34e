// The conditions of a table's rules as expressions of the kernel.

import {
  addressIn,
  addressInSet,
  type Expression,
  familyIs,
  hopLimitIs,
  isReply,
  linkIs,
  messageTypeIn,
  portIn,
  portInSet,
  protocolIs,
  stateIs,
  verdictExpression,
} from "../../../host/capabilities/firewall/expressions.ts";
import type { Match, TableRule } from "../rules/table.ts";

/** The expressions of a rule. */
export function ruleExpressions({ matches, end }: TableRule): readonly Expression[] {
  return [...matches.flatMap(matchExpressions), verdictExpression(end)];
}

function matchExpressions(match: Match): readonly Expression[] {
  switch (match.kind) {
    case "interface":
      return linkIs(match.direction, match.name);
    case "state":
      return stateIs(match.states);
    case "reply":
      return isReply();
    case "protocol":
      return protocolIs(match.protocol);
    case "port":
      return portIn(match.side, match.first, match.last);
    case "icmp6":
      return messageTypeIn(match.first, match.last);
    case "hop-limit":
      return hopLimitIs(match.limit);
    case "network": {
      const { address, prefix } = match.network;
      return [...familyIs(address.family), ...addressIn(match.side, "is", address, prefix)];
    }
    case "set": {
      const inSet = match.of === "port" ? portInSet : addressInSet;
      return [...familyIs(match.family), ...inSet(match.family, match.side, match.set)];
    }
  }
}
