// The requests to the capability `flows` that a call may make. The node and the kit for authors have the same rules. No I/O.

import type { AttachmentId } from "../../../src/cni/attachment.ts";
import type { Verb } from "../../../src/cni/environment.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { formatAddress, type IpAddress, readAddress, readCidr } from "../../../src/net/ip.ts";
import type { FlowsPort } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { KnownAddresses } from "../call-facts.ts";
import { misuseOf } from "../outcome.ts";

/** The call that makes the request. */
export interface FlowsCall {
  readonly verb: Verb;
  /** Undefined for GC and STATUS. */
  readonly attachment: AttachmentId | undefined;
  /** The attachment's addresses: flows of these alone may be forgotten. */
  readonly facts: KnownAddresses;
}

/** Maximum number of ports: each flow is compared with all of them. */
const maxPorts = 256;
const verbs: readonly Verb[] = ["ADD", "DEL"];

const misused = misuseOf("flows");

/** The addresses of a request, decoded, each once. Fault: CAPABILITY_MISUSED. */
export function allowedAddresses(
  { verb, attachment, facts }: FlowsCall,
  addresses: readonly string[],
  ports: readonly FlowsPort[],
): Result<readonly IpAddress[]> {
  if (attachment === undefined || !verbs.includes(verb))
    return failed(misused(`forget is allowed in ${verbs.join(" and ")} only, and this call is ${verb}`));
  if (ports.length > maxPorts) return failed(misused(`${ports.length} ports; the maximum is ${maxPorts}`));
  const known = new Set(facts.addresses.flatMap((text) => addressIn(text) ?? []).map(formatAddress));
  const read = new Map<string, IpAddress>();
  for (const text of addresses) {
    const address = addressIn(text);
    if (address === undefined) return failed(misused(`${quote(text, 60)} is not an IP address`));
    const formatted = formatAddress(address);
    if (!known.has(formatted)) {
      const has = known.size === 0 ? "no known address" : [...known].join(", ");
      return failed(misused(`${formatted} is not an address of the attachment, which has ${has}`));
    }
    read.set(formatted, address);
  }
  return ok([...read.values()]);
}

function addressIn(text: string): IpAddress | undefined {
  return readCidr(text)?.address ?? readAddress(text);
}
