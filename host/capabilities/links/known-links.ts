// The links that an `apply` knows: read before it, or made by it.

import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import type { LinkState } from "../netlink/link-state.ts";
import type { LinksPlace } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import { linkText } from "./link-scope.ts";

export interface KnownLink {
  readonly place: LinksPlace;
  readonly name: string;
  readonly index: number;
  /** As it was before, or as the kernel told it when it was made; undefined where it told none. */
  readonly state: LinkState | undefined;
  /** By this `apply`: what is done to it needs no undoing but the link's. */
  readonly made: boolean;
}

export class KnownLinks {
  /** By place and name. */
  readonly #links = new Map<string, KnownLink>();
  /** In the order in which they were first named. */
  readonly #named = new Map<string, { readonly place: LinksPlace; readonly name: string }>();

  /** It will be answered, in this place of the order. */
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

  /** Fault NETLINK_FAILED: there is none. */
  get(place: LinksPlace, name: string, by: string): Result<KnownLink> {
    const link = this.find(place, name);
    return link === undefined ? failed(fault("NETLINK_FAILED", `links: ${by}: there is no ${linkText(place, name)}`)) : ok(link);
  }

  all(): readonly KnownLink[] {
    return [...this.#links.values()];
  }

  /** Those that are there and were named, in their order. */
  answered(): readonly KnownLink[] {
    return [...this.#named.values()].flatMap(({ place, name }) => this.find(place, name) ?? []);
  }
}
