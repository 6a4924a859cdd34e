// The links that one `apply` has read or made.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { LinkState } from "../../system/netlink/link-state.ts";
import type { LinksPlace } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { linkText } from "./link-scope.ts";

/** A link that this apply has read or made. */
export interface KnownLink {
  readonly place: LinksPlace;
  readonly name: string;
  readonly index: number;
  /** The state when the link was read or made, with the changes by this apply; undefined where the kernel sent none. */
  readonly state: LinkState | undefined;
  /** This apply made the link. Its removal undoes all changes of it. */
  readonly isNew: boolean;
}

/** The known links of one apply. */
export class KnownLinks {
  /** By place and name. */
  readonly #links = new Map<string, KnownLink>();
  /** In the order in which the operations first named them. */
  readonly #named = new Map<string, { readonly place: LinksPlace; readonly name: string }>();

  /** Adds the link to the answer of the apply, unless an earlier operation did. */
  name(place: LinksPlace, name: string): void {
    this.#named.set(`${place}/${name}`, { place, name });
  }

  learn(link: KnownLink): void {
    this.#links.set(`${link.place}/${link.name}`, link);
  }

  forget(place: LinksPlace, name: string): void {
    this.#links.delete(`${place}/${name}`);
  }

  find(place: LinksPlace, name: string): KnownLink | undefined {
    return this.#links.get(`${place}/${name}`);
  }

  /** Fault NETLINK_FAILED: the link does not exist. */
  get(place: LinksPlace, name: string, label: string): Result<KnownLink> {
    const link = this.find(place, name);
    return link === undefined
      ? failed(fault("NETLINK_FAILED", `links: ${label}: ${linkText(place, name)} does not exist`))
      : ok(link);
  }

  all(): readonly KnownLink[] {
    return [...this.#links.values()];
  }

  /** The existing links that operations named, in that order. */
  answered(): readonly KnownLink[] {
    return [...this.#named.values()].flatMap(({ place, name }) => this.find(place, name) ?? []);
  }
}
