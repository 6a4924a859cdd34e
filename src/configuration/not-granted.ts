// The fault of a delegate that asks for more of a capability than its grant has.

import { type Fault, fault } from "../fault/fault.ts";
import { quote } from "../json/quote.ts";

export interface Denied {
  /** The delegate's type, under which its grant stands. */
  readonly type: string;
  /** The key within the grant that would allow it, e.g. `links.bridges`. */
  readonly key: string;
  /** What was asked for, in words and with its name made harmless: `bridge "docker0"`. */
  readonly asked: string;
  /** What stands under the key now; a switch that is off has nothing. */
  readonly granted: readonly string[];
}

/** Most elements of a grant that a message has. */
const mostNamed = 20;

/** Fault: NOT_GRANTED (7). Names what was asked, the key that would allow it, and what that key has. */
export function notGranted({ type, key, asked, granted }: Denied): Fault {
  const more = granted.length > mostNamed ? ` and ${granted.length - mostNamed} more` : "";
  const has = granted.length === 0 ? "nothing" : `${granted.slice(0, mostNamed).join(", ")}${more}`;
  return fault("NOT_GRANTED", `${asked} is not granted: wasm.grants.${shown(type)}.${key} has ${has}`);
}

function shown(type: string): string {
  return /^[\w.-]{1,64}$/.test(type) ? type : quote(type, 64);
}
