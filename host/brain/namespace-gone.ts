// Whether a network namespace is gone. The hands look: a resident brain doesn't see the runtime's namespaces.

import type { Hands } from "../hands/hands.ts";

const deadlineMs = 1000;

/** A netlink message that asks for nothing but its acknowledgement (NLMSG_NOOP with NLM_F_REQUEST and NLM_F_ACK). */
const nothing = Uint8Array.from([16, 0, 0, 0, 1, 0, 5, 0, 1, 0, 0, 0, 0, 0, 0, 0]);

const ENOENT = 2;
const ENOTDIR = 20;
/** Something is there, but no namespace: a mount point whose namespace was unmounted. */
const EINVAL = 22;

/** What the hands find under a path; `other`: something that is no namespace, or none that is mounted for them. */
export type NamespaceLook = "there" | "gone" | "other" | "unknown";

/** Whether no network namespace is there under the path; false where that can't be told. */
export async function namespaceIsGone(hands: Pick<Hands, "netlink">, path: string): Promise<boolean> {
  return path === "" || ["gone", "other"].includes(await lookAtNamespace(hands, path));
}

/** Looks for a network namespace. Hands that may not enter it, or can't look now, don't know. */
export async function lookAtNamespace(hands: Pick<Hands, "netlink">, path: string): Promise<NamespaceLook> {
  const { errno, sent } = await hands.netlink({ path, request: nothing, deadlineMs });
  if (errno === 0) return "there";
  if (sent) return "unknown";
  if (errno === ENOENT || errno === ENOTDIR) return "gone";
  return errno === EINVAL ? "other" : "unknown";
}
