// What all operations of one `apply` act with.

import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { addressesOf, addressesRequest, type AddressState } from "../netlink/address.ts";
import { byteText } from "../netlink/address-bytes.ts";
import { linkRequest, linkRemoval } from "../netlink/link-change.ts";
import { type LinkState, linkStateIn } from "../netlink/link-state.ts";
import type { NetlinkAnswer, NetlinkRequest } from "../netlink/message.ts";
import type { LinksLinkName, LinksPlace } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import { type KnownLink, KnownLinks } from "./known-links.ts";
import { type LinkScope, linkText } from "./link-scope.ts";
import { isGone, type Namespaces, refusalText } from "./namespaces.ts";
import type { Setting, Settings, Wrote } from "./settings.ts";
import type { Transaction, Undo } from "./transaction.ts";

/** A dump that others disturb is asked for again, this often. */
const dumps = 5;

export class Acting {
  readonly scope: LinkScope;
  readonly namespaces: Namespaces;
  readonly transaction: Transaction;
  readonly settings: Settings;
  readonly links = new KnownLinks();
  /** Addresses by place and link, where they were read. */
  readonly addresses = new Map<string, readonly AddressState[]>();
  /** The operation under way, for faults. */
  by = "";

  constructor(scope: LinkScope, namespaces: Namespaces, transaction: Transaction, settings: Settings) {
    this.scope = scope;
    this.namespaces = namespaces;
    this.transaction = transaction;
    this.settings = settings;
  }

  begin(by: string): void {
    this.by = by;
    this.transaction.begin(by);
  }

  /** A link that is there, whatever this apply made of it until now. */
  link({ place, name }: LinksLinkName): Result<KnownLink> {
    return this.links.get(place, name, this.by);
  }

  /** Does what waits, then asks. Fault: what waited, or the asking, failed. */
  async ask(place: LinksPlace, request: NetlinkRequest, what: string): Promise<Result<NetlinkAnswer>> {
    if (!(await this.transaction.flush())) return this.failed();
    for (let tries = 1; ; tries++) {
      const exchange = await this.namespaces.exchange(place, [request]);
      const [answer] = exchange.answers;
      if (answer === undefined) return failed(this.namespaces.unreachable(exchange.errno));
      if (answer.errno !== 0) return failed(fault("NETLINK_FAILED", `links: ${this.by}: ${what}: ${refusalText(answer)}`));
      if (!answer.interrupted || tries === dumps) return ok(answer);
    }
  }

  /** The failure of the transaction as a result. */
  failed(): Result<never> {
    return failed(this.transaction.failure ?? fault("INTERNAL", `links: ${this.by} failed without a reason`));
  }

  /** Writes a sysctl, without waiting for it. `missing`: that the kernel doesn't have it is fine. `shared`: as Undo has it. */
  set(
    link: KnownLink,
    key: string,
    value: string,
    missing: "fine" | "a fault",
    shared = link.place === "host" ? link.name : undefined,
  ): void {
    const { by, settings, transaction } = this;
    const what = `setting ${key} to ${value}`;
    const write = (all: readonly Setting[]): Promise<readonly Wrote[]> => settings.writeAll(link.place, all);
    transaction.set(link.place, write, { key, value }, (wrote) => {
      if ("why" in wrote) return { fault: fault("NETLINK_FAILED", `links: ${by}: ${what}: ${wrote.why}`) };
      if ("missing" in wrote)
        return missing === "fine" ? {} : { fault: fault("NETLINK_FAILED", `links: ${by}: ${what}: the kernel doesn't have it`) };
      if (link.made || wrote.before === value) return {};
      const run = async (): Promise<string | undefined> => {
        const restored = await settings.write(link.place, { key, value: wrote.before });
        return "why" in restored ? restored.why : undefined;
      };
      return { undo: { run, what, shared } };
    });
  }

  /** The addresses of a link as they are now. */
  async addressesOf(link: KnownLink): Promise<Result<readonly AddressState[]>> {
    const key = `${link.place}/${link.name}`;
    const known = this.addresses.get(key) ?? (link.made ? [] : undefined);
    if (known !== undefined) return ok(known);
    const answer = await this.ask(
      link.place,
      addressesRequest(link.index),
      `listing the addresses of ${linkText(link.place, link.name)}`,
    );
    return answer.ok ? ok(this.learnAddresses(link.place, link.name, link.index, answer.value)) : answer;
  }

  /** What a dump of a link's addresses told. */
  learnAddresses(place: LinksPlace, name: string, index: number, told: NetlinkAnswer): readonly AddressState[] {
    const found = addressesOf(told, index);
    this.addresses.set(`${place}/${name}`, found);
    return found;
  }

  /**
   * Makes a link and waits until it is there. `mac`: what it was given, by which it is known again where the kernel's answer is lost.
   * Answers undefined where a link of that name is there and `existing` says that this is fine.
   */
  async make(
    place: LinksPlace,
    name: string,
    request: NetlinkRequest,
    terms: {
      /** Where the link is, which the message's place needn't be. */
      readonly in?: LinksPlace;
      readonly mac?: string | undefined;
      readonly existing?: "fine";
      readonly undo?: (index: number) => readonly Undo[];
      /** As Undo has it. */
      readonly shared?: string;
    } = {},
  ): Promise<Result<LinkState | undefined>> {
    const home = terms.in ?? place;
    const what = `making ${linkText(home, name)}`;
    const made = this.transaction.send(place, {
      request,
      what,
      fine: terms.existing === "fine" ? [EEXIST] : [],
      reaching: place === "host",
      undo: (answer) => this.#unmake(home, name, answer, terms),
    });
    if (!(await this.transaction.flush())) return this.failed();
    const answer = await made;
    if (answer?.errno === EEXIST) return ok(undefined);
    // Echoed are the messages of links made straight in another namespace there, too, and kernels before 6.2 echo nothing.
    const echoed = answer?.messages.flatMap((message) => linkStateIn(message) ?? []).find((state) => state.name === name);
    if (echoed !== undefined && home === place) return ok(echoed);
    const read = await this.ask(home, linkRequest(name), `reading ${linkText(home, name)}`);
    if (!read.ok) return read;
    const [state] = read.value.messages.flatMap((message) => linkStateIn(message) ?? []);
    return state === undefined ? failed(fault("NETLINK_FAILED", `links: ${this.by}: ${what}: it is gone`)) : ok(state);
  }

  #unmake(
    place: LinksPlace,
    name: string,
    answer: NetlinkAnswer | undefined,
    {
      mac,
      undo,
      shared,
    }: {
      readonly mac?: string | undefined;
      readonly undo?: (index: number) => readonly Undo[];
      readonly shared?: string;
    },
  ): readonly Undo[] {
    const what = `removing ${linkText(place, name)}`;
    const echoed = answer?.messages.flatMap((message) => linkStateIn(message) ?? []).find((state) => state.name === name);
    const remove = (index: number): readonly Undo[] => undo?.(index) ?? [{ place, request: linkRemoval(index), what, shared }];
    if (echoed !== undefined && this.links.find(place, name)?.index === echoed.index) return remove(echoed.index);
    const run = async (): Promise<string | undefined> => {
      const read = await this.namespaces.exchange(place, [linkRequest(name)]);
      if (isGone(read)) return undefined;
      const [state] = read.answers[0]?.messages.flatMap((message) => linkStateIn(message) ?? []) ?? [];
      if (state === undefined) return read.sent ? undefined : "it could not be looked for";
      // It may be somebody else's, who was first: only what it was given tells.
      if (answer === undefined && (mac === undefined || state.mac !== mac)) return undefined;
      for (const each of remove(state.index)) {
        if ("run" in each) return each.run();
        const [removed] = (await this.namespaces.exchange(each.place, [each.request])).answers;
        if (removed === undefined || (removed.errno !== 0 && removed.errno !== ENODEV)) return removed && refusalText(removed);
      }
      return undefined;
    };
    return [{ run, what, shared }];
  }
}

const EEXIST = 17;
const ENODEV = 19;

/** A locally administered MAC address that nobody has. */
export function randomMac(): string {
  let mac = byteText((randomByte() & 0xfc) | 0x02);
  for (let byte = 1; byte < 6; byte++) mac += `:${byteText(randomByte())}`;
  return mac;
}

/** A name for the node's end of a veth. */
export function randomVethName(): string {
  return `veth${byteText(randomByte())}${byteText(randomByte())}${byteText(randomByte())}${byteText(randomByte())}`;
}

/** Nobody gains by guessing it, and making Web Crypto costs a call of its own brain milliseconds. */
function randomByte(): number {
  return Math.floor(Math.random() * 256);
}
