// Names the attachment of a call that failed.

import type { Fault } from "./fault.ts";

/** The failing plugin's own fault, with the attachment named in front of its message (MO-14). */
export function located(cause: Fault, source: string, ifname: string): Fault {
  return { ...cause, msg: `network ${source} as ${ifname}: ${cause.msg}` };
}
