// The links that one call sees: those of the node, and those of its pod.

import type { LinksLink, LinksLinkName, LinksOperation, LinksPlace } from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { refuseMac, refuseMtu, refuseTakenName } from "./kernel-rules.ts";
import type { KnownLink, LinkTable } from "./link-table.ts";
import { Refusal } from "./refusal.ts";

/** An operation of this tag. */
export type OperationOf<Tag extends LinksOperation["tag"]> = Extract<LinksOperation, { readonly tag: Tag }>;

/** The node's links and those of one pod. */
export class VisibleLinks {
  readonly table: LinkTable;
  /** The pod's namespace in the table. */
  readonly pod: string;

  constructor(table: LinkTable, pod: string) {
    this.table = table;
    this.pod = pod;
  }

  /** The key of a link in the table. */
  keyOf({ place, name }: LinksLinkName): string {
    return `${place === "pod" ? this.pod : place} ${name}`;
  }

  get(name: LinksLinkName): KnownLink | undefined {
    return this.table.known.get(this.keyOf(name));
  }

  /** The link, which must exist. */
  find(name: LinksLinkName): KnownLink {
    const known = this.get(name);
    if (known === undefined) throw new Refusal(`the ${name.place} has no link ${name.name}`);
    return known;
  }

  at(place: LinksPlace): readonly KnownLink[] {
    return this.table.linksAt(place === "pod" ? this.pod : place);
  }

  /** The lower link of a macvlan, an ipvlan or a VLAN of the pod. */
  parentOf({ name, parent }: LinksLink): LinksLink | undefined {
    const place = this.get({ place: "pod", name })?.parentPlace ?? "pod";
    return parent === undefined ? undefined : this.get({ place, name: parent })?.link;
  }

  /** A link as `read` answers it; none if it does not exist. */
  shown(name: LinksLinkName): readonly LinksLink[] {
    const known = this.get(name);
    if (known === undefined) return [];
    const hasMembers = name.place === "pod" && (known.link.kind === "vrf" || known.link.kind === "bond");
    if (!hasMembers) return [known.link];
    const members = this.at(name.place).filter(({ link }) => link.master === name.name);
    return [{ ...known.link, members: members.map(({ link }) => link.name) }];
  }

  /** A new link, whose name must be free. */
  create(
    name: LinksLinkName,
    kind: string,
    settings: { readonly mac?: string | undefined; readonly mtu?: number | undefined },
  ): KnownLink {
    refuseTakenName(this.at(name.place), name.name);
    refuseMac(settings.mac);
    refuseMtu(kind, settings.mtu);
    const known = this.make(name, kind);
    Object.assign(known.link, defined({ mac: settings.mac?.toLowerCase(), mtu: settings.mtu }));
    return known;
  }

  /** A new link with a kernel's defaults, in the place of a link of its name. */
  make({ place, name }: LinksLinkName, kind: string): KnownLink {
    this.table.made += 1;
    const known: KnownLink = {
      link: {
        place,
        name,
        index: this.table.made,
        kind,
        mac: `0a:58:00:00:00:${this.table.made.toString(16).padStart(2, "0")}`,
        mtu: 1500,
        up: false,
        running: false,
        promiscuous: false,
        allMulticast: false,
        txQueueLength: 1000,
        alternativeNames: [],
        portVlans: [],
        addresses: [],
        members: [],
        carrier: false,
      },
      routes: [],
      neighbours: [],
    };
    this.table.known.set(this.keyOf({ place, name }), known);
    return known;
  }
}

/** A link of the node. */
export function inHost(name: string): LinksLinkName {
  return { place: "host", name };
}

/** Without the members that are undefined. */
export function defined(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}
