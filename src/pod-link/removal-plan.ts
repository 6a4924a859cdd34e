// How a DEL may undo an attachment whose pod still lives: plugins find their link by its name, and the pod may have given the name to another link.

import { hasName, isSameLink, type LinkIdentity, type ShownLink } from "./link-identity.ts";
import type { PluginConf } from "../cni/network-list.ts";
import { isJsonObject, type JsonObjectDocument } from "../json/document.ts";
import { foldedKey } from "../json/folded-key.ts";

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

/** The members that a configuration names. */
export interface BondMembers {
  readonly names: readonly string[];
  /** Whether they are devices of the node, which DEL moves back there. */
  readonly areDevices: boolean;
}

/** The steps before the DEL of a bond whose members have lost their names. */
export interface MembersPlan {
  /** Links of the pod that have members' names, and give them up. */
  readonly aside: readonly { readonly link: ShownLink; readonly name: string }[];
  /** Members that get their names back. */
  readonly rename: readonly { readonly link: ShownLink; readonly name: string }[];
  /** Members of a bond that Plexus removes in the plugin's place, which would change the links that have their names now. They are brought up afterwards. */
  readonly release: readonly ShownLink[] | undefined;
}

/** The members of the native bond in a list; undefined without one. Keys are read as Go reads them. */
export function bondMembers(plugins: readonly PluginConf[]): BondMembers | undefined {
  const bond = plugins.find(({ type }) => type === "bond");
  if (bond === undefined) return undefined;
  const links = valueOf(bond.document, "links");
  return {
    names: (Array.isArray(links) ? links : []).flatMap((each) => {
      const name: unknown = isJsonObject(each) ? each["name"] : undefined;
      return typeof name === "string" && name !== "" ? [name] : [];
    }),
    areDevices: valueOf(bond.document, "linksInContainer") !== true,
  };
}

function valueOf({ parsed }: JsonObjectDocument, key: string): unknown {
  return Object.entries(parsed).findLast(([written]) => foldedKey(written) === foldedKey(key))?.[1];
}

/**
 * Plans the steps for members that have lost their names; undefined: all have them. `made`: the links of the pod that its ADD has recorded, by their names after
 * the ADD. A member without a record is left to the plugin.
 */
export function membersPlan(
  { names, areDevices }: BondMembers,
  made: readonly LinkIdentity[],
  links: readonly ShownLink[],
): MembersPlan | undefined {
  const members = names.flatMap((name) => {
    const identity = made.find((each) => each.name === name);
    const own = identity && links.find((link) => isSameLink(identity, link));
    const named = links.find((link) => hasName(link, name));
    return identity === undefined ? [] : [{ name, own, named }];
  });
  const displaced = members.filter(({ own, named }) => own !== named);
  if (displaced.length === 0) return undefined;
  if (!areDevices) return { aside: [], rename: [], release: members.flatMap(({ own }) => own ?? []) };
  return {
    aside: displaced.flatMap(({ name, named }) => (named === undefined ? [] : [{ link: named, name }])),
    rename: displaced.flatMap(({ name, own }) => (own === undefined ? [] : [{ link: own, name }])),
    release: undefined,
  };
}
