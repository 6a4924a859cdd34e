// Whether a network namespace is gone. The shim looks, because a daemon does not see the runtime's mounts.

import type { NetlinkSender } from "../system/netlink/exchange.ts";
import { EINVAL, ENOENT, ENOTDIR, EPERM } from "../system/errno.ts";

const deadlineMs = 1000;

/** A netlink message that asks for an acknowledgement only (NLMSG_NOOP with NLM_F_REQUEST and NLM_F_ACK). */
const noop = Uint8Array.from([16, 0, 0, 0, 1, 0, 5, 0, 1, 0, 0, 0, 0, 0, 0, 0]);

/** The shim's finding at a path; `other`: a file that is not a namespace, or a namespace that is not mounted for the shim. */
export type NamespaceLook = "there" | "gone" | "other" | "unknown";

/** Whether the path has no network namespace; false if the shim cannot tell. */
export async function namespaceIsGone(shim: NetlinkSender, path: string): Promise<boolean> {
  return path === "" || ["gone", "other"].includes(await lookAtNamespace(shim, path));
}

/** Looks for a network namespace at `path`. Answers `unknown` if the shim may not enter the namespace or fails to look. */
export async function lookAtNamespace(shim: NetlinkSender, path: string): Promise<NamespaceLook> {
  const { errno, sent } = await shim.netlink({ path, request: noop, deadlineMs, allowsOwn: true });
  if (errno === 0) return "there";
  if (sent) return "unknown";
  // The shim opens nothing but namespaces. An agent without CAP_SYS_ADMIN then may not enter.
  if (errno === EPERM) return "there";
  if (errno === ENOENT || errno === ENOTDIR) return "gone";
  // EINVAL: a file that is not a namespace, such as a mount point whose namespace was unmounted.
  return errno === EINVAL ? "other" : "unknown";
}
