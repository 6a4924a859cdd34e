// Operations that make links in the pod's namespace: macvlan, ipvlan and VLAN on a lower link; dummy, VRF and TAP without one.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { linkChange, linkRemoval, linkRequest } from "../../system/netlink/link-change.ts";
import { newBond, newDummy, newIpvlan, newMacvlan, newVlan, newVrf, type NewUpper } from "../../system/netlink/link-creation.ts";
import { linkStatesIn } from "../../system/netlink/link-state.ts";
import type { NetlinkRequest } from "../../system/netlink/message.ts";
import { systemError } from "../../system/system-error.ts";
import type {
  LinksBond,
  LinksDummy,
  LinksIpvlan,
  LinksLinkName,
  LinksMacvlan,
  LinksTap,
  LinksVlan,
  LinksVrf,
} from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { type LinkTransaction, randomMac } from "./link-transaction.ts";
import { linkText } from "./link-scope.ts";
import { refusalText } from "./namespaces.ts";

/** Makes a macvlan in the pod, with a random MAC unless the operation has one. Fault: NETLINK_FAILED. */
export function addMacvlan(transaction: LinkTransaction, { parent, ...link }: LinksMacvlan): Promise<Result<void>> {
  // In passthru mode a link has its parent's MAC, and setting one changes the parent's.
  const mac = link.mac ?? (link.mode === "passthru" ? undefined : randomMac());
  return addUpper(transaction, parent, { ...link, mac }, (upper) =>
    newMacvlan({ ...upper, mode: link.mode, broadcastQueue: link.broadcastQueue }),
  );
}

/** Makes an ipvlan in the pod. Fault: NETLINK_FAILED. */
export function addIpvlan(transaction: LinkTransaction, { parent, ...link }: LinksIpvlan): Promise<Result<void>> {
  return addUpper(transaction, parent, link, (upper) => newIpvlan({ ...upper, mode: link.mode }));
}

/** Makes a VLAN link in the pod. Fault: NETLINK_FAILED. */
export function addVlan(transaction: LinkTransaction, { parent, ...link }: LinksVlan): Promise<Result<void>> {
  return addUpper(transaction, parent, link, (upper) => newVlan({ ...upper, id: link.id }));
}

async function addUpper(
  transaction: LinkTransaction,
  parent: LinksLinkName,
  link: { readonly name: string; readonly mac?: string | undefined; readonly mtu?: number | undefined },
  newLink: (upper: NewUpper) => NetlinkRequest,
): Promise<Result<void>> {
  const lower = transaction.link(parent);
  if (!lower.ok) return lower;
  const { name, mac, mtu } = link;
  const request = newLink({ name, mac, mtu, parent: lower.value.index, inSecondNamespace: parent.place === "host" });
  return learn(transaction, name, await transaction.make(parent.place, name, request, { in: "pod", mac }));
}

/** Makes a dummy link in the pod. Fault: NETLINK_FAILED. */
export async function addDummy(
  transaction: LinkTransaction,
  { name, mtu, mac = randomMac() }: LinksDummy,
): Promise<Result<void>> {
  return learn(transaction, name, await transaction.make("pod", name, newDummy({ name, mac, mtu }), { mac }));
}

/** Makes a bond in the pod. Without a MAC the bond takes that of its first member. Fault: NETLINK_FAILED. */
export async function addBond(transaction: LinkTransaction, bond: LinksBond): Promise<Result<void>> {
  const { name, mac, monitorInterval, failOverMac, allMembersActive, dynamicBalancing, transmitHash } = bond;
  const request = newBond({ ...bond, monitorInterval, failOverMac, allMembersActive, dynamicBalancing, transmitHash });
  return learn(transaction, name, await transaction.make("pod", name, request, { mac }));
}

/** Makes a VRF in the pod. Fault: NETLINK_FAILED. */
export async function addVrf(transaction: LinkTransaction, { name, table }: LinksVrf): Promise<Result<void>> {
  const mac = randomMac();
  return learn(transaction, name, await transaction.make("pod", name, newVrf({ name, mac, table }), { mac }));
}

function learn(transaction: LinkTransaction, name: string, made: Awaited<ReturnType<LinkTransaction["make"]>>): Result<void> {
  if (!made.ok) return made;
  const state = made.value;
  if (state !== undefined) transaction.links.learn({ place: "pod", name, index: state.index, state, isNew: true });
  return ok(undefined);
}

/** Makes a TAP link through /dev/net/tun, for which rtnetlink has no message, then sets its MAC and MTU. */
export async function addTap(transaction: LinkTransaction, tap: LinksTap): Promise<Result<void>> {
  const { name, mac, mtu, multiQueue, owner, group, selinuxContext } = tap;
  if (!(await transaction.effects.flush())) return transaction.failed();
  const errno = await transaction.namespaces.makeTap({
    name,
    multiQueue,
    ...(owner === undefined ? {} : { owner }),
    ...(group === undefined ? {} : { group }),
    ...(selinuxContext === undefined ? {} : { selinuxContext }),
  });
  const context = selinuxContext === undefined ? "" : ` in the SELinux context ${quote(selinuxContext, 200)}`;
  const action = `making ${linkText("pod", name)}${context}`;
  if (errno !== 0) return failed(fault("NETLINK_FAILED", `links: ${transaction.label}: ${action}: ${systemError(errno)}`));
  transaction.effects.record({
    action,
    run: async () => {
      const [removed] = (await transaction.namespaces.exchange("pod", [linkRemoval(name)])).answers;
      return removed === undefined || removed.errno === 0 ? undefined : refusalText(removed);
    },
  });
  const read = await transaction.ask("pod", linkRequest(name), `reading ${linkText("pod", name)}`);
  if (!read.ok) return read;
  const [state] = linkStatesIn(read.value);
  if (state === undefined)
    return failed(fault("NETLINK_FAILED", `links: ${transaction.label}: ${action}: the new link no longer exists`));
  transaction.links.learn({ place: "pod", name, index: state.index, state, isNew: true });
  if (mac !== undefined || mtu !== undefined)
    transaction.effects.send("pod", {
      request: linkChange(state.index, { mac, mtu }),
      action: `changing ${linkText("pod", name)}`,
    });
  return ok(undefined);
}
