// The name and text of an errno.

import { getSystemErrorMap } from "node:util";

import { EKEYREJECTED } from "./errno.ts";

/** `ENODEV, no such device`. `errno` is positive, as the kernel's headers have it. */
export function systemError(errno: number): string {
  if (errno === EKEYREJECTED)
    return "the node's policy forbids it (/etc/plexus/policy.json; the shim's or the agent's stderr names it)";
  const known = getSystemErrorMap().get(-errno);
  return known === undefined ? `errno ${errno}` : `${known[0]}, ${known[1]}`;
}
