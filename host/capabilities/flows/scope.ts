// Binds the capability `flows` to one call: its verb and its attachment's addresses. The messages are those by which `firewall` forgets flows of its mappings.

import type { FlowsCapability } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { flowCountRequest, forgetFlows } from "../firewall/conntrack.ts";
import { addressBytes } from "../firewall/packet-values.ts";
import { type NetlinkShim, unlessAbsent } from "../firewall/kernel.ts";
import { protocolNumbers } from "../firewall/rules.ts";
import { type Deferred, refuse, witOutcome } from "../outcome.ts";
import { allowedAddresses, type FlowsCall } from "./requests.ts";

/** The WIT interface `flows`; its function answers when the shim has. */
export type Flows = Deferred<FlowsCapability>;

/** The capability for the delegate of one call. */
export function flowsFor(call: FlowsCall, shim: NetlinkShim): Flows {
  return {
    forget: async (requested, ports) => {
      const addresses = allowedAddresses(call, requested, ports);
      if (!addresses.ok) return refuse(addresses.fault);
      if (addresses.value.length === 0) return { ok: 0 };
      const own = new Set(addresses.value.map((address) => addressBytes(address).toHex()));
      const forgotten = await forgetFlows(
        shim,
        addresses.value,
        (protocol, end) =>
          own.has(end.address.toHex()) &&
          (ports.length === 0 || ports.some((each) => protocolNumbers[each.protocol] === protocol && each.number === end.port)),
      );
      return witOutcome(await unlessAbsent(shim, forgotten, 0, flowCountRequest()));
    },
  };
}
