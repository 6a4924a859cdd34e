// The id of a network: a label's value has at most 63 characters, and a network's name more.

import { createHash } from "node:crypto";

/** 128 bits of a hash in hexadecimal. */
export function networkId(network: string): string {
  return createHash("sha256").update(network).digest("hex").slice(0, 32);
}
