// The name and text of an errno.

import { getSystemErrorMap } from "node:util";

/** `ENODEV, no such device`. `errno` is positive, as the kernel's headers have it. */
export function systemError(errno: number): string {
  const known = getSystemErrorMap().get(-errno);
  return known === undefined ? `errno ${errno}` : `${known[0]}, ${known[1]}`;
}
