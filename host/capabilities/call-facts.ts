// Facts about the attachment of one delegate call. The capabilities `delegation` and `links` report facts, and `firewall` reads them.

import type { PluginResult } from "../../src/cni/result.ts";
import type { LinksLink, LinksOperation } from "../sandbox/abi/generated/delegate-1.1.0.ts";

/** The addresses that are known of the attachment. */
export interface KnownAddresses {
  /** With or without prefix length, in the previous result and in results of plugins that the delegate called. */
  readonly addresses: readonly string[];
}

/** The node's ends of the attachment's veths. */
export interface KnownVeths {
  /** The names of those that this call made. */
  readonly hostVeths: readonly string[];
}

/** The known facts at the moment of reading. */
export interface AttachmentFacts extends KnownAddresses, KnownVeths {}

/** The facts of one call. Each call has an instance of its own, so that no fact outlives the call or reaches another call. */
export class CallFacts implements AttachmentFacts {
  readonly #addresses: string[];
  readonly #delegated: string[] = [];
  readonly #hostVeths: string[] = [];

  /** `prevResult`: the previous result of the delegate's step. */
  constructor(prevResult: PluginResult | undefined) {
    this.#addresses = (prevResult?.result.ips ?? []).map(({ address }) => address);
  }

  get addresses(): readonly string[] {
    return this.#addresses;
  }

  /** The addresses, with prefix length, that plugins which the delegate called have given in this call. */
  get delegatedAddresses(): readonly string[] {
    return this.#delegated;
  }

  get hostVeths(): readonly string[] {
    return this.#hostVeths;
  }

  /** Reports the addresses in the result of a plugin that the delegate called for ADD. */
  reportDelegatedAdd(ips: readonly { readonly address: string }[]): void {
    for (const { address } of ips) {
      this.#addresses.push(address);
      this.#delegated.push(address);
    }
  }

  /** Reports a successful `apply` of `links`: the requested operations and the resulting links. */
  reportLinks(operations: readonly LinksOperation[], links: readonly LinksLink[]): void {
    const podEnds = new Set(operations.flatMap((operation) => (operation.tag === "add-veth" ? [operation.val.name] : [])));
    for (const link of links) if (isHostEnd(link, podEnds)) this.#hostVeths.push(link.name);
  }
}

function isHostEnd({ place, kind, peer }: LinksLink, podEnds: ReadonlySet<string>): boolean {
  return place === "host" && kind === "veth" && peer !== undefined && podEnds.has(peer);
}
