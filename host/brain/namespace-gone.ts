// Whether a network namespace is gone. The hands look: a resident brain doesn't see the runtime's namespaces.

import type { Hands } from "../hands/hands.ts";

const deadlineMs = 1000;

/** A netlink message that asks for nothing but its acknowledgement (NLMSG_NOOP with NLM_F_REQUEST and NLM_F_ACK). */
const nothing = Uint8Array.from([16, 0, 0, 0, 1, 0, 5, 0, 1, 0, 0, 0, 0, 0, 0, 0]);

const ENOENT = 2;
const ENOTDIR = 20;
/** Something is there, but no namespace: a mount point whose namespace was unmounted. */
const EINVAL = 22;

/** Whether no network namespace is there under the path; false where that can't be told. */
export async function namespaceIsGone(hands: Pick<Hands, "netlink">, path: string): Promise<boolean> {
  if (path === "") return true;
  const { errno, sent } = await hands.netlink({ path, request: nothing, deadlineMs });
  return !sent && [ENOENT, ENOTDIR, EINVAL].includes(errno);
}
