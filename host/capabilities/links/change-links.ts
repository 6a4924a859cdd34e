// Operations on existing links: `change-link`, `delete-link`, `change-port`, the VLANs of ports, settings of an interface, forwarding.

import { ok, type Result } from "../../../src/fault/result.ts";
import {
  portChange,
  type VlanRange,
  vlanAddition,
  vlanRemoval,
  vlansIn,
  vlansRequest,
} from "../../system/netlink/bridge-port.ts";
import {
  inetSettings,
  linkChange,
  type LinkChange,
  linkRemoval,
  nameAddition,
  nameRemoval,
} from "../../system/netlink/link-change.ts";
import { inetSetting } from "../../system/netlink/link-state.ts";
import type {
  LinksChange,
  LinksInterfaceSetting,
  LinksLinkName,
  LinksPortChange,
  LinksPortVlanChange,
} from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { LinkTransaction } from "./link-transaction.ts";
import { inetSettingIds } from "./interface-settings.ts";
import type { KnownLink } from "./known-links.ts";
import { linkText } from "./link-scope.ts";
import { undosOfLostState } from "./restore-lost-state.ts";
import { forwardingResource } from "./shared-resources.ts";
import type { Undo } from "./effect-queue.ts";
import { ENODEV, ENOENT } from "../../system/errno.ts";

/**
 * Changes a link's flags, MAC, MTU, queue length and master, and adds alternative names. The undo also restores what the kernel removes. Fault:
 * NETLINK_FAILED.
 */
export async function changeLink(transaction: LinkTransaction, change: LinksChange): Promise<Result<void>> {
  const { link: linkName, up, mac, mtu, promiscuous, allMulticast, txQueueLength, master, alternativeNames } = change;
  const link = transaction.link(linkName);
  if (!link.ok) return link;
  const upper = master === undefined || master === "" ? ok(undefined) : transaction.link({ place: linkName.place, name: master });
  if (!upper.ok) return upper;
  const { place, index, isNew, state } = link.value;
  // A virtual function's driver refuses a change to the MAC that the physical function has already given.
  const hasMac = mac !== undefined && state?.parentDevice !== undefined && state.mac === mac.toLowerCase();
  const requested: LinkChange = {
    up,
    mac: hasMac ? undefined : mac,
    mtu,
    promiscuous,
    allMulticast,
    txQueueLength,
    master: master === undefined ? undefined : (upper.value?.index ?? 0),
  };
  const action = `changing ${linkText(place, linkName.name)}`;
  if (Object.values(requested).some((member) => member !== undefined)) {
    const lost = isNew || state === undefined ? ok([]) : await undosOfLostState(transaction, link.value, state, requested);
    if (!lost.ok) return lost;
    const undo: readonly Undo[] =
      isNew || state === undefined
        ? []
        : [{ place, request: linkChange(index, previousValues(requested, state)), action }, ...lost.value].map((each) => ({
            ...each,
            shared: place === "host" ? linkName.name : undefined,
          }));
    transaction.effects.send(place, { request: linkChange(index, requested), action, undo: () => undo });
    if (state !== undefined) transaction.links.learn({ ...link.value, state: { ...state, ...newValues(requested) } });
  }
  for (const name of alternativeNames) {
    if (state?.alternativeNames.includes(name) === true) continue;
    const naming = `adding the alternative name ${name} to ${linkText(place, linkName.name)}`;
    const undo: readonly Undo[] = isNew ? [] : [{ place, request: nameRemoval(index, name), action: naming }];
    transaction.effects.send(place, { request: nameAddition(index, name), action: naming, undo: () => undo });
  }
  return ok(undefined);
}

/** The previous values of the members that change. */
function previousValues(requested: LinkChange, state: NonNullable<KnownLink["state"]>): LinkChange {
  return {
    up: ifPresent(requested.up, state.up),
    mac: ifPresent(requested.mac, state.mac),
    mtu: ifPresent(requested.mtu, state.mtu),
    promiscuous: ifPresent(requested.promiscuous, state.promiscuous),
    allMulticast: ifPresent(requested.allMulticast, state.allMulticast),
    txQueueLength: ifPresent(requested.txQueueLength, state.txQueueLength),
    master: ifPresent(requested.master, state.master ?? 0),
  };
}

/** The changed members as a later operation of the same call must see them. */
function newValues({ master, ...members }: LinkChange): Partial<NonNullable<KnownLink["state"]>> {
  const known = Object.entries(members).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(known), ...(master === undefined ? {} : { master: master === 0 ? undefined : master }) };
}

/** The value if `member` is present, otherwise undefined. */
function ifPresent<T>(member: unknown, value: T): T | undefined {
  return member === undefined ? undefined : value;
}

/** Removes a link. A link or a pod namespace that does not exist is no fault, and neither is a link of the pod that the ADD did not make. */
export function deleteLink(transaction: LinkTransaction, { place, name }: LinksLinkName): Result<void> {
  const known = transaction.links.find(place, name);
  if (place === "host" && known === undefined) return ok(undefined);
  const ownLinks = place === "pod" && known?.isNew !== true ? transaction.scope.attachment?.ownLinks : undefined;
  const own = ownLinks?.find((link) => link.name === name);
  if (ownLinks !== undefined && own === undefined) return ok(undefined);
  const action = `removing ${linkText(place, name)}`;
  const undo: readonly Undo[] = [{ run: () => Promise.resolve("a removed link cannot be made again"), action }];
  transaction.effects.send(place, {
    // Without a record of the ADD the message has the link's name, so that the link need not be read first.
    request: linkRemoval(own?.index ?? known?.index ?? name),
    action,
    ignoredErrnos: [ENODEV],
    ignoresMissingNamespace: true,
    undo: (answer) => (known?.isNew === true || answer === undefined ? [] : undo),
  });
  transaction.links.forget(place, name);
  return ok(undefined);
}

/** Changes the bridge port settings of a link of the node. Fault: NETLINK_FAILED. */
export function changePort(transaction: LinkTransaction, { link: name, port }: LinksPortChange): Result<void> {
  const link = transaction.link({ place: "host", name });
  if (!link.ok) return link;
  const { index, isNew, state } = link.value;
  const action = `changing the port ${name}`;
  const old = state?.port;
  if (Object.values(port).every((value) => value === undefined)) return ok(undefined);
  const back = old && {
    hairpin: ifPresent(port.hairpin, old.hairpin),
    isolated: ifPresent(port.isolated, old.isolated),
    learning: ifPresent(port.learning, old.learning),
    flood: ifPresent(port.flood, old.flood),
  };
  const undo: readonly Undo[] = isNew || back === undefined ? [] : [{ place: "host", request: portChange(index, back), action }];
  transaction.effects.send("host", { request: portChange(index, port), action, undo: () => undo });
  return ok(undefined);
}

/** Adds VLANs to a port or a bridge, or removes them. */
export async function changePortVlans(
  transaction: LinkTransaction,
  { link: name, vlan }: LinksPortVlanChange,
  mode: "add" | "delete",
): Promise<Result<void>> {
  const link = transaction.link({ place: "host", name });
  if (!link.ok) return link;
  const { index, isNew, state } = link.value;
  const isBridge = state?.kind === "bridge";
  const before = isNew ? ok([]) : await vlansOf(transaction, link.value);
  if (!before.ok) return before;
  const action = `${mode === "add" ? "adding" : "removing"} VLANs ${vlan.first} to ${vlan.last} ${mode === "add" ? "to" : "from"} ${name}`;
  const [request, inverse] = mode === "add" ? [vlanAddition, vlanRemoval] : [vlanRemoval, vlanAddition];
  const whole = { ...vlan, pvid: false, untagged: false };
  const undos: Undo[] =
    mode === "add" && !isNew ? [{ place: "host", request: inverse(index, whole, isBridge), action, shared: name }] : [];
  for (const range of before.value) {
    const first = Math.max(range.first, vlan.first);
    const last = Math.min(range.last, vlan.last);
    if (first <= last)
      undos.push({ place: "host", request: vlanAddition(index, { ...range, first, last }, isBridge), action, shared: name });
  }
  transaction.effects.send("host", {
    request: request(index, vlan, isBridge),
    action,
    ignoredErrnos: mode === "delete" ? [ENOENT] : [],
    undo: () => undos,
  });
  return ok(undefined);
}

async function vlansOf(transaction: LinkTransaction, { index, name }: KnownLink): Promise<Result<readonly VlanRange[]>> {
  const dump = await transaction.ask("host", vlansRequest(), `reading the VLANs of ${name}`);
  if (!dump.ok) return dump;
  return ok(dump.value.messages.flatMap((message) => vlansIn(message) ?? []).find((each) => each.link === index)?.vlans ?? []);
}

/** Sets a sysctl of one interface: IPv4 settings by rtnetlink, in one send with other messages; IPv6 settings by their file. */
export function setInterface(
  transaction: LinkTransaction,
  { link: linkName, family, name, value, required }: LinksInterfaceSetting,
): Result<void> {
  const link = transaction.link(linkName);
  if (!link.ok) return link;
  const { place, index, isNew, state } = link.value;
  const id = family === "ipv4" ? inetSettingIds.get(name) : undefined;
  if (id === undefined) {
    transaction.set(link.value, `net/ipv6/conf/${state?.name ?? linkName.name}/${name}`, value, required ? "fault" : "ignored");
    return ok(undefined);
  }
  const action = `setting net.ipv4.conf.${linkName.name}.${name} to ${value}`;
  const before = state && inetSetting(state, id);
  transaction.effects.send(place, {
    request: inetSettings(index, new Map([[id, Number(value)]])),
    action,
    undo: () => (isNew || before === undefined ? [] : [{ place, request: inetSettings(index, new Map([[id, before]])), action }]),
  });
  return ok(undefined);
}

/** Enables the node's forwarding of one address family (a sysctl). Fault: NETLINK_FAILED. */
export function enableForwarding(transaction: LinkTransaction, family: "ipv4" | "ipv6"): Result<void> {
  const key = family === "ipv4" ? "net/ipv4/ip_forward" : "net/ipv6/conf/all/forwarding";
  const node = { place: "host", name: "all", index: 0, state: undefined, isNew: false } as const;
  transaction.set(node, key, "1", "fault", forwardingResource(family));
  return ok(undefined);
}
