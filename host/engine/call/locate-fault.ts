// Which attachment of a call failed.

import type { Fault } from "../../src/fault/fault.ts";

/** The failing plugin's own fault, with the attachment that it belongs to in its message (MO-14, U-32). */
export function located(cause: Fault, source: string, ifname: string): Fault {
  return { ...cause, msg: `network ${source} as ${ifname}: ${cause.msg}` };
}
