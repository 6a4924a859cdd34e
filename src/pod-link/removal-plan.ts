// How a DEL may undo an attachment whose pod still lives: plugins find their link by its name, and the pod may have given the name to another link.

import { hasName, isSameLink, type LinkIdentity, type ShownLink } from "./link-identity.ts";

/** The known facts about the link of an attachment. */
export interface AttachedLink {
  /** The interface name of the attachment. */
  readonly ifname: string;
  /** The link that the ADD made; undefined if it made none, or if that is unknown. */
  readonly made: LinkIdentity | undefined;
  /** The link that had the name before the ADD of a network that may make one; undefined without one. */
  readonly earlier: LinkIdentity | undefined;
  /** Whether the ADD was completed. */
  readonly completed: boolean;
  /** Whether the failed step may make a link. A step that only changes a link found the earlier one, as its configuration asks. */
  readonly makesLink: boolean;
  /** Whether the DEL would move a link of the pod to the node, also one that the pod has made. Absent: no process of the pod has run. */
  readonly movesForeign?: boolean;
}

/** The steps before the plugins' DEL, and the DEL itself. */
export interface RemovalPlan {
  /** `rename`: the attachment's link gets its name back. `remove`: it is removed by its index: another link has its name, or no plugin can read it. */
  readonly before?: { readonly what: "rename" | "remove"; readonly link: ShownLink };
  /** Another link of the pod, which gives its name to the attachment's link before. */
  readonly aside?: ShownLink;
  /** Whether the plugins' DEL gets the namespace. Without it plugins free addresses and touch no link of the pod. */
  readonly withNamespace: boolean;
  /** The attachment's link is not in the namespace. It may have moved to another one. */
  readonly isMissing?: true;
}

/** Maximum number of a link's alternative names: plugins cannot read a message of 64 KiB about a link, and the kernel allows as many names. */
const maxNames = 64;

/** Plans the removal. `links`: all links of the attachment's namespace. */
export function removalPlan(
  { ifname, made, earlier, completed, makesLink, movesForeign = false }: AttachedLink,
  links: readonly ShownLink[],
): RemovalPlan {
  const named = links.find((link) => hasName(link, ifname));
  if (made === undefined) {
    // A plugin that succeeded with an earlier link, such as tuning, undoes its own changes of that link.
    const isForeign = !completed && makesLink && earlier !== undefined && named !== undefined && isSameLink(earlier, named);
    return { withNamespace: !isForeign && !(movesForeign && !completed) };
  }
  const own = links.find((link) => isSameLink(made, link));
  if (own === undefined) return { withNamespace: named === undefined, isMissing: true };
  const { alternativeNames = [], parentDevice } = own;
  if (own === named && alternativeNames.length > maxNames && parentDevice === undefined)
    return { before: { what: "remove", link: own }, withNamespace: true };
  if (own === named) return { withNamespace: true };
  if (named === undefined) return { before: { what: "rename", link: own }, withNamespace: true };
  // Hardware cannot be removed: the plugin's DEL, which finds the device by its name, moves it back to the node.
  if (own.parentDevice !== undefined) return { before: { what: "rename", link: own }, aside: named, withNamespace: true };
  return { before: { what: "remove", link: own }, withNamespace: false };
}
