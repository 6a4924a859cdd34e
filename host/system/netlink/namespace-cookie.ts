// The cookie of a network namespace, which the shim appends to the kernel's answers (host/shim/PROTOCOL.md).

import { u16At, u32At } from "./bytes.ts";

const SIZE = 24;
const NLMSG_NOOP = 1;
const SENDER = 0x78656c70;

/**
 * The cookie of the namespace that the answers come from, in decimal; undefined where the kernel or the shim gives none. Unique in a boot: the
 * kernel never gives it to another namespace.
 */
export function namespaceCookieIn(reply: Uint8Array): string | undefined {
  const at = reply.length - SIZE;
  const isCookie =
    at >= 0 &&
    u32At(reply, at) === SIZE &&
    u16At(reply, at + 4) === NLMSG_NOOP &&
    u32At(reply, at + 8) === 0 &&
    u32At(reply, at + 12) === SENDER;
  if (!isCookie) return undefined;
  return (BigInt(u32At(reply, at + 16)) + (BigInt(u32At(reply, at + 20)) << 32n)).toString();
}
