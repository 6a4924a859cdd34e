// Alternative names of the node's links. A delegate may name a link by one, as its configuration does. Grants count for the link's own name, and the
// delegate sees the link under the name by which it named it.

import { GATEWAY } from "./link-scope.ts";
import type { LinkState } from "../../system/netlink/link-state.ts";
import { linkRequest } from "../../system/netlink/link-change.ts";
import { linkStatesIn } from "../../system/netlink/link-state.ts";
import type { Namespaces } from "./namespaces.ts";

/** The alternative names that one call of a delegate has used. */
export class LinkAliases {
  readonly #realByAlias = new Map<string, string>();
  readonly #aliasByReal = new Map<string, string>();

  /** Notes a link that the kernel found under a name. Answers whether the name is an alternative one, and new. */
  learn(name: string, state: LinkState): boolean {
    if (state.name === name || !state.alternativeNames.includes(name) || this.#realByAlias.get(name) === state.name) return false;
    this.#realByAlias.set(name, state.name);
    this.#aliasByReal.set(state.name, name);
    return true;
  }

  /** The link's own name. */
  realOf(name: string): string {
    const real = this.#realByAlias.get(name);
    if (real !== undefined) return real;
    const [, bridge = "", id = ""] = GATEWAY.exec(name) ?? [];
    const realBridge = this.#realByAlias.get(bridge);
    return realBridge === undefined ? name : `${realBridge}.${id}`;
  }

  /** The name under which the delegate knows a link. */
  shownAs(real: string): string {
    return this.#aliasByReal.get(real) ?? real;
  }
}

/** Asks the node for links with these names. Answers whether one is an alternative name that was not known. */
export async function learnAliases(namespaces: Namespaces, aliases: LinkAliases, names: readonly string[]): Promise<boolean> {
  if (names.length === 0) return false;
  const { answers } = await namespaces.exchange("host", names.map(linkRequest));
  const learnt = names.map((name, index) => {
    const state = linkStatesIn(answers[index])[0];
    return state !== undefined && aliases.learn(name, state);
  });
  return learnt.includes(true);
}
