// Generated from WIT by delegates/sdk/generator. Do not edit: run `node scripts/build-delegates.ts --bindings`.

// Capability `announce`: tells the pod's neighbours where its addresses are now, by gratuitous ARP and unsolicited neighbour advertisement.

import * as _calls from "./calls";
import { Fault as types_Fault } from "./types";
export { Fault } from "./types";

/** Addresses of the attachment's interface, without prefix length. Nothing is sent on an interface without carrier, which is no fault. */
export function send(addresses: Array<string>): types_Fault | null {
  return _calls.announce_send(addresses);
}
