// The members of a native `bond` (https://github.com/k8snetworkplumbingwg/bond-cni). Its DEL finds the members by their names, and the pod may have renamed
// them, and given their names to other links.

import type { PluginConf } from "../cni/network-list.ts";
import { isJsonObject, type JsonObjectDocument } from "../json/document.ts";
import { foldedKey } from "../json/folded-key.ts";
import { hasName, isSameLink, type LinkIdentity, type ShownLink } from "./link-identity.ts";

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
