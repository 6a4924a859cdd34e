// The state that all operations of one `apply` share: its scope, the links and addresses that it knows, and its queued effects.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { formatCidr } from "../../../src/net/ip.ts";
import type { LinksLinkName, LinksPlace } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { EEXIST, ENODEV } from "../../system/errno.ts";
import { addressesOf, addressesRequest, type AddressState } from "../../system/netlink/address.ts";
import { byteText } from "../../system/netlink/bytes.ts";
import { linkRequest, linkRemoval } from "../../system/netlink/link-change.ts";
import { type LinkState, linkStatesIn } from "../../system/netlink/link-state.ts";
import { interruptedText, type NetlinkAnswer, type NetlinkRequest } from "../../system/netlink/message.ts";
import type { EffectQueue, Undo } from "./effect-queue.ts";
import { type KnownLink, KnownLinks } from "./known-links.ts";
import type { LinkAliases } from "./link-aliases.ts";
import { type LinkScope, linkText } from "./link-scope.ts";
import { isGone, maxDumps, type Namespaces, refusalText } from "./namespaces.ts";
import type { Setting, SettingOutcome, Settings } from "./settings.ts";

/** One apply while it runs. */
export class LinkTransaction {
  readonly scope: LinkScope;
  readonly namespaces: Namespaces;
  readonly effects: EffectQueue;
  readonly settings: Settings;
  readonly aliases: LinkAliases;
  readonly links = new KnownLinks();
  /** Addresses by place and link, as far as they were read. */
  readonly addresses = new Map<string, readonly AddressState[]>();
  /** Addresses as text, by place and link, when this apply first read them: before it removed any. */
  readonly addressesBefore = new Map<string, ReadonlySet<string>>();
  /** The current operation as faults name it: `operation 1 (add-route)`. */
  label = "";

  constructor(scope: LinkScope, namespaces: Namespaces, effects: EffectQueue, settings: Settings, aliases: LinkAliases) {
    this.aliases = aliases;
    this.scope = scope;
    this.namespaces = namespaces;
    this.effects = effects;
    this.settings = settings;
  }

  /** Names the operation of the effects that follow, for faults. */
  begin(label: string): void {
    this.label = label;
    this.effects.begin(label);
  }

  /** An existing link in the state that the earlier operations leave it. Fault NETLINK_FAILED: it does not exist. */
  link({ place, name }: LinksLinkName): Result<KnownLink> {
    return this.links.get(place, name, this.label);
  }

  /** Sends the queued effects, then a request that only reads. Fault: an effect or the request failed. */
  async ask(place: LinksPlace, request: NetlinkRequest, action: string): Promise<Result<NetlinkAnswer>> {
    if (!(await this.effects.flush())) return this.failed();
    for (let tries = 1; ; tries++) {
      const exchange = await this.namespaces.exchange(place, [request]);
      const [answer] = exchange.answers;
      if (answer === undefined) return failed(this.namespaces.unreachable(exchange.errno));
      if (answer.errno !== 0) return failed(fault("NETLINK_FAILED", `links: ${this.label}: ${action}: ${refusalText(answer)}`));
      if (!answer.interrupted) return ok(answer);
      if (tries === maxDumps)
        return failed(fault("NETLINK_FAILED", `links: ${this.label}: ${action}: ${interruptedText(maxDumps)}`));
    }
  }

  /** The queue's failure as a result. */
  failed(): Result<never> {
    return failed(this.effects.failure ?? fault("INTERNAL", `links: ${this.label} failed without a reason`));
  }

  /**
   * Queues the write of a sysctl. `missing`: whether a key that the kernel does not have is a fault. `shared`: the node's resource that the key
   * belongs to (`Undo.shared`).
   */
  set(
    link: KnownLink,
    key: string,
    value: string,
    missing: "ignored" | "fault",
    shared = link.place === "host" ? link.name : undefined,
  ): void {
    const { label, settings, effects } = this;
    const action = `setting ${key} to ${value}`;
    const write = (all: readonly Setting[]): Promise<readonly SettingOutcome[]> => settings.writeAll(link.place, all);
    effects.set(link.place, write, { key, value }, (outcome) => {
      if ("reason" in outcome) return { fault: fault("NETLINK_FAILED", `links: ${label}: ${action}: ${outcome.reason}`) };
      if ("missing" in outcome)
        return missing === "ignored"
          ? {}
          : { fault: fault("NETLINK_FAILED", `links: ${label}: ${action}: the kernel has no such sysctl`) };
      if (link.isNew || outcome.before === value) return {};
      const run = async (): Promise<string | undefined> => {
        const restored = await settings.write(link.place, { key, value: outcome.before });
        return "reason" in restored ? restored.reason : undefined;
      };
      return { undo: { run, action, shared } };
    });
  }

  /** The current addresses of a link. */
  async addressesOf(link: KnownLink): Promise<Result<readonly AddressState[]>> {
    const key = `${link.place}/${link.name}`;
    const known = this.addresses.get(key) ?? (link.isNew ? [] : undefined);
    if (known !== undefined) return ok(known);
    const answer = await this.ask(
      link.place,
      addressesRequest(link.index),
      `listing the addresses of ${linkText(link.place, link.name)}`,
    );
    return answer.ok ? ok(this.learnAddresses(link.place, link.name, link.index, answer.value)) : answer;
  }

  /** Keeps the addresses in the dump of a link. */
  learnAddresses(place: LinksPlace, name: string, index: number, dump: NetlinkAnswer): readonly AddressState[] {
    const found = addressesOf(dump, index);
    this.addresses.set(`${place}/${name}`, found);
    this.firstAddresses(place, name, found);
    return found;
  }

  /** The addresses of a link when this apply first read them; `current` where that is the first time. */
  firstAddresses(place: LinksPlace, name: string, current: readonly AddressState[]): ReadonlySet<string> {
    const key = `${place}/${name}`;
    const first = this.addressesBefore.get(key) ?? new Set(current.map(({ cidr }) => formatCidr(cidr)));
    this.addressesBefore.set(key, first);
    return first;
  }

  /**
   * Makes a link and waits for the kernel's answer. Answers undefined where a link of that name exists and `existing` allows it. `mac` is the MAC
   * address in the request: an undo recognizes the link by it where the kernel's answer is lost.
   */
  async make(
    place: LinksPlace,
    name: string,
    request: NetlinkRequest,
    options: {
      /** The namespace of the new link, where that is not the namespace in which the message is sent. */
      readonly in?: LinksPlace;
      readonly mac?: string | undefined;
      readonly existing?: "allowed";
      /** The other end of a veth. The kernel does not say which of the two names is taken. */
      readonly otherEnd?: { readonly place: LinksPlace; readonly name: string };
      readonly undo?: (index: number) => readonly Undo[];
      /** As in `Undo`. */
      readonly shared?: string;
    } = {},
  ): Promise<Result<LinkState | undefined>> {
    const home = options.in ?? place;
    const action = `making ${linkText(home, name)}`;
    const answering = this.effects.send(place, {
      request,
      action,
      ignoredErrnos: options.existing === "allowed" || options.otherEnd !== undefined ? [EEXIST] : [],
      usesSecondNamespace: place === "host",
      undo: (answer) => this.#undosOfMake(home, name, answer, options),
    });
    const reading = `reading ${linkText(home, name)}`;
    // In the same turn: the echo of a link in another namespace does not arrive.
    const read =
      home === place
        ? undefined
        : this.effects.send(home, { request: linkRequest(name), action: reading, ignoredErrnos: [ENODEV] });
    if (!(await this.effects.flush())) return this.failed();
    const answer = await answering;
    if (answer?.errno === EEXIST && options.existing === "allowed") return ok(undefined);
    if (answer?.errno === EEXIST)
      return this.#nameTaken([...(options.otherEnd ? [options.otherEnd] : []), { place: home, name }], answer);
    // Kernels before 6.2 send no echo.
    const echoed = home === place ? linkStatesIn(answer).find((state) => state.name === name) : undefined;
    if (echoed !== undefined) return ok(echoed);
    const found = read === undefined ? await this.ask(home, linkRequest(name), reading) : ok(await read);
    if (!found.ok) return found;
    const [state] = linkStatesIn(found.value);
    return state === undefined
      ? failed(fault("NETLINK_FAILED", `links: ${this.label}: ${action}: the new link no longer exists`))
      : ok(state);
  }

  /** The fault of a link that could not be made, because one of its ends has the name of an existing link. */
  async #nameTaken(ends: readonly LinksLinkName[], answer: NetlinkAnswer): Promise<Result<never>> {
    let taken = ends.at(-1);
    for (const end of ends) {
      const { answers } = await this.namespaces.exchange(end.place, [linkRequest(end.name)]);
      if (answers[0]?.errno !== 0) continue;
      taken = end;
      break;
    }
    const action = `making ${taken === undefined ? "a link" : linkText(taken.place, taken.name)}`;
    return failed(fault("NETLINK_FAILED", `links: ${this.label}: ${action}: ${refusalText(answer)}`));
  }

  #undosOfMake(
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
    const action = `making ${linkText(place, name)}`;
    const echoed = linkStatesIn(answer).find((state) => state.name === name);
    const remove = (index: number): readonly Undo[] => undo?.(index) ?? [{ place, request: linkRemoval(index), action, shared }];
    if (echoed !== undefined && this.links.find(place, name)?.index === echoed.index) return remove(echoed.index);
    const run = async (): Promise<string | undefined> => {
      const read = await this.namespaces.exchange(place, [linkRequest(name)]);
      if (isGone(read)) return undefined;
      const [state] = linkStatesIn(read.answers[0]);
      if (state === undefined) return read.sent ? undefined : "the kernel could not be asked whether the link exists";
      // Another process may have made the link of this name. Only the MAC of the request proves that this apply made it.
      if (answer === undefined && (mac === undefined || state.mac !== mac)) return undefined;
      for (const each of remove(state.index)) {
        if ("run" in each) return each.run();
        const [removed] = (await this.namespaces.exchange(each.place, [each.request])).answers;
        if (removed === undefined || (removed.errno !== 0 && removed.errno !== ENODEV)) return removed && refusalText(removed);
      }
      return undefined;
    };
    return [{ run, action, shared }];
  }
}

/** A random unicast MAC address, locally administered. */
export function randomMac(): string {
  let mac = byteText((randomByte() & 0xfc) | 0x02);
  for (let byte = 1; byte < 6; byte++) mac += `:${byteText(randomByte())}`;
  return mac;
}

/** A random name for the node's end of a veth. */
export function randomVethName(): string {
  return `veth${byteText(randomByte())}${byteText(randomByte())}${byteText(randomByte())}${byteText(randomByte())}`;
}

/** Not cryptographic: a guess of it gains nothing, and loading Web Crypto costs the one-shot engine milliseconds. */
function randomByte(): number {
  return Math.floor(Math.random() * 256);
}
