// The fault of a delegate that requests more than its grant allows.

import { type Fault, fault } from "../fault/fault.ts";
import { quote } from "../json/quote.ts";

/** A request of a delegate that was denied. */
export interface Denied {
  /** The delegate's type, which is the key of its grant. */
  readonly type: string;
  /** The key within the grant that would allow the request, e.g. `links.bridges`. */
  readonly key: string;
  /** The request in plain language, with its name quoted: `bridge "docker0"`. */
  readonly request: string;
  /** The current value of the key; empty for a boolean that is off. */
  readonly granted: readonly string[];
}

/** Maximum number of a grant's elements in a message. */
const maxNamed = 20;

/** Fault: NOT_GRANTED (7). Names the request, the key that would allow it, and the key's value. */
export function notGranted({ type, key, request, granted }: Denied): Fault {
  const more = granted.length > maxNamed ? ` and ${granted.length - maxNamed} more` : "";
  const has = granted.length === 0 ? "nothing" : `${granted.slice(0, maxNamed).join(", ")}${more}`;
  return fault("NOT_GRANTED", `${request} is not granted: wasm.grants.${shown(type)}.${key} has ${has}`);
}

function shown(type: string): string {
  return /^[\w.-]{1,64}$/.test(type) ? type : quote(type, 64);
}
