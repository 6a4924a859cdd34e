// What becomes of links that are there: `change-link`, `delete-link`, `change-port`, VLANs of ports, settings of an interface.

import { ok, type Result } from "../../src/fault/result.ts";
import { portChange, type VlanRange, vlanAddition, vlanRemoval, vlansIn, vlansRequest } from "../netlink/bridge-port.ts";
import { inetSettings, linkChange, type LinkChange, linkRemoval, nameAddition, nameRemoval } from "../netlink/link-change.ts";
import { inetSetting } from "../netlink/link-state.ts";
import type {
  LinksChange,
  LinksInterfaceSetting,
  LinksLinkName,
  LinksPortChange,
  LinksPortVlanChange,
} from "../sandbox/abi/generated/delegate-0.1.0.ts";
import type { Acting } from "./acting.ts";
import { inetSettingIds } from "./interface-settings.ts";
import type { KnownLink } from "./known-links.ts";
import { linkText } from "./link-scope.ts";
import { lostWith } from "./lost-with.ts";
import { forwardingName } from "./shared.ts";
import type { Undo } from "./transaction.ts";

const ENODEV = 19;
const ENOENT = 2;
export async function changeLink(acting: Acting, change: LinksChange): Promise<Result<void>> {
  const { link: named, up, mac, mtu, promiscuous, allMulticast, txQueueLength, master, alternativeNames } = change;
  const link = acting.link(named);
  if (!link.ok) return link;
  const upper = master === undefined || master === "" ? ok(undefined) : acting.link({ place: named.place, name: master });
  if (!upper.ok) return upper;
  const { place, index, made, state } = link.value;
  const wanted: LinkChange = {
    up,
    mac,
    mtu,
    promiscuous,
    allMulticast,
    txQueueLength,
    master: master === undefined ? undefined : (upper.value?.index ?? 0),
  };
  const what = `changing ${linkText(place, named.name)}`;
  if (Object.values(wanted).some((member) => member !== undefined)) {
    const lost = made || state === undefined ? ok([]) : await lostWith(acting, link.value, state, wanted);
    if (!lost.ok) return lost;
    const undo: readonly Undo[] =
      made || state === undefined
        ? []
        : [{ place, request: linkChange(index, membersBefore(wanted, state)), what }, ...lost.value].map((each) => ({
            ...each,
            shared: place === "host" ? named.name : undefined,
          }));
    acting.transaction.send(place, { request: linkChange(index, wanted), what, undo: () => undo });
    if (state !== undefined) acting.links.learn({ ...link.value, state: { ...state, ...membersAfter(wanted) } });
  }
  for (const name of alternativeNames) {
    if (state?.alternativeNames.includes(name) === true) continue;
    const naming = `naming ${linkText(place, named.name)} ${name}, too`;
    const undo: readonly Undo[] = made ? [] : [{ place, request: nameRemoval(index, name), what: naming }];
    acting.transaction.send(place, { request: nameAddition(index, name), what: naming, undo: () => undo });
  }
  return ok(undefined);
}

/** What the members that change were. */
function membersBefore(wanted: LinkChange, state: NonNullable<KnownLink["state"]>): LinkChange {
  return {
    up: was(wanted.up, state.up),
    mac: was(wanted.mac, state.mac),
    mtu: was(wanted.mtu, state.mtu),
    promiscuous: was(wanted.promiscuous, state.promiscuous),
    allMulticast: was(wanted.allMulticast, state.allMulticast),
    txQueueLength: was(wanted.txQueueLength, state.txQueueLength),
    master: was(wanted.master, state.master ?? 0),
  };
}

/** What a later operation of the same call finds. */
function membersAfter({ master, ...members }: LinkChange): Partial<NonNullable<KnownLink["state"]>> {
  const known = Object.entries(members).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(known), ...(master === undefined ? {} : { master: master === 0 ? undefined : master }) };
}

/** The value, if the member is there. */
function was<T>(member: unknown, value: T): T | undefined {
  return member === undefined ? undefined : value;
}

/** One that isn't there is fine; a pod's namespace that is gone took it along. */
export function deleteLink(acting: Acting, { place, name }: LinksLinkName): Result<void> {
  const known = acting.links.find(place, name);
  if (place === "host" && known === undefined) return ok(undefined);
  const what = `removing ${linkText(place, name)}`;
  const undo: readonly Undo[] = [{ run: () => Promise.resolve("a removed link can't be made again"), what }];
  acting.transaction.send(place, {
    // In the pod the name says it all, and nothing needs to be read first.
    request: linkRemoval(known?.index ?? name),
    what,
    fine: [ENODEV],
    goneIsFine: true,
    undo: (answer) => (known?.made === true || answer === undefined ? [] : undo),
  });
  acting.links.forget(place, name);
  return ok(undefined);
}

export function changePort(acting: Acting, { link: name, port }: LinksPortChange): Result<void> {
  const link = acting.link({ place: "host", name });
  if (!link.ok) return link;
  const { index, made, state } = link.value;
  const what = `changing the port ${name}`;
  const old = state?.port;
  if (Object.values(port).every((value) => value === undefined)) return ok(undefined);
  const back = old && {
    hairpin: was(port.hairpin, old.hairpin),
    isolated: was(port.isolated, old.isolated),
    learning: was(port.learning, old.learning),
    flood: was(port.flood, old.flood),
  };
  const undo: readonly Undo[] = made || back === undefined ? [] : [{ place: "host", request: portChange(index, back), what }];
  acting.transaction.send("host", { request: portChange(index, port), what, undo: () => undo });
  return ok(undefined);
}

/** Adds VLANs to a port or a bridge, or takes them off. */
export async function changePortVlans(
  acting: Acting,
  { link: name, vlan }: LinksPortVlanChange,
  how: "add" | "delete",
): Promise<Result<void>> {
  const link = acting.link({ place: "host", name });
  if (!link.ok) return link;
  const { index, made, state } = link.value;
  const self = state?.kind === "bridge";
  const before = made ? ok([]) : await vlansOf(acting, link.value);
  if (!before.ok) return before;
  const what = `${how === "add" ? "adding" : "removing"} VLANs ${vlan.first} to ${vlan.last} ${how === "add" ? "to" : "of"} ${name}`;
  const [forth, back] = how === "add" ? [vlanAddition, vlanRemoval] : [vlanRemoval, vlanAddition];
  const whole = { ...vlan, pvid: false, untagged: false };
  const undos: Undo[] = how === "add" && !made ? [{ place: "host", request: back(index, whole, self), what, shared: name }] : [];
  for (const range of before.value) {
    const first = Math.max(range.first, vlan.first);
    const last = Math.min(range.last, vlan.last);
    if (first <= last)
      undos.push({ place: "host", request: vlanAddition(index, { ...range, first, last }, self), what, shared: name });
  }
  acting.transaction.send("host", {
    request: forth(index, vlan, self),
    what,
    fine: how === "delete" ? [ENOENT] : [],
    undo: () => undos,
  });
  return ok(undefined);
}

async function vlansOf(acting: Acting, { index, name }: KnownLink): Promise<Result<readonly VlanRange[]>> {
  const told = await acting.ask("host", vlansRequest(), `reading the VLANs of ${name}`);
  if (!told.ok) return told;
  return ok(told.value.messages.flatMap((message) => vlansIn(message) ?? []).find((each) => each.link === index)?.vlans ?? []);
}

/** IPv4 settings go by rtnetlink with the other messages, IPv6 ones have a file only. */
export function setInterface(
  acting: Acting,
  { link: named, family, name, value, required }: LinksInterfaceSetting,
): Result<void> {
  const link = acting.link(named);
  if (!link.ok) return link;
  const { place, index, made, state } = link.value;
  const id = family === "ipv4" ? inetSettingIds.get(name) : undefined;
  if (id === undefined) {
    acting.set(link.value, `net/ipv6/conf/${named.name}/${name}`, value, required ? "a fault" : "fine");
    return ok(undefined);
  }
  const what = `setting net.ipv4.conf.${named.name}.${name} to ${value}`;
  const before = state && inetSetting(state, id);
  acting.transaction.send(place, {
    request: inetSettings(index, new Map([[id, Number(value)]])),
    what,
    undo: () => (made || before === undefined ? [] : [{ place, request: inetSettings(index, new Map([[id, before]])), what }]),
  });
  return ok(undefined);
}

export function enableForwarding(acting: Acting, family: "ipv4" | "ipv6"): Result<void> {
  const key = family === "ipv4" ? "net/ipv4/ip_forward" : "net/ipv6/conf/all/forwarding";
  const node = { place: "host", name: "all", index: 0, state: undefined, made: false } as const;
  acting.set(node, key, "1", "a fault", forwardingName(family));
  return ok(undefined);
}
