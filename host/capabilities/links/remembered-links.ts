// The links of pods as this process last read them. A delegate's read asks for a remembered link's addresses and other end together with the link
// itself, which saves a round trip to the shim. A memory counts only where the kernel's answer has the same index for the name.

import type { LinksLinkName } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { LinkState } from "../../system/netlink/link-state.ts";

/** Maximum number of links that are remembered. */
const maxLinks = 256;

/** By the path of the pod's namespace and the link's name. */
const links = new Map<string, LinkState>();

const keyOf = (netns: string, name: string): string => `${netns}\0${name}`;

/** Remembers a link of the pod. */
export function rememberLink(netns: string, state: LinkState): void {
  if (links.size >= maxLinks) links.clear();
  links.set(keyOf(netns, state.name), state);
}

/** The states of these links in their order; undefined unless all are links of the pod and remembered. */
export function rememberedLinks(netns: string, names: readonly LinksLinkName[]): readonly LinkState[] | undefined {
  const found = names.flatMap(({ place, name }) => (place === "pod" ? (links.get(keyOf(netns, name)) ?? []) : []));
  return found.length === names.length && found.length > 0 ? found : undefined;
}
