// `apply`: checks all operations, reads what has to be known, does them, reads back; where one fails, takes back what was done.

import type { Fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import type { Hands } from "../hands/hands.ts";
import type { LinksLink, LinksOperation } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import { addressesRequest } from "../netlink/address.ts";
import type { NetlinkAnswer } from "../netlink/message.ts";
import { Acting } from "./acting.ts";
import { changeLink, changePort, changePortVlans, deleteLink, enableForwarding, setInterface } from "./change-links.ts";
import { checkOperations } from "./check-operations.ts";
import { demandsOf } from "./demands.ts";
import { addAddress, addNeighbour, addRoute, deleteAddress, deleteNeighbour, deleteRoute, ensureAddress } from "./layer3.ts";
import { linkAnswer } from "./link-answer.ts";
import { type LinkScope, operationText } from "./link-scope.ts";
import { ensureBridge, ensureVlanGateway } from "./make-bridge.ts";
import { addDummy, addIpvlan, addMacvlan, addTap, addVlan, addVrf } from "./make-pod-links.ts";
import { addVeth } from "./make-veth.ts";
import { Namespaces } from "./namespaces.ts";
import { readLinks } from "./own-links.ts";
import { seeLinks, type SeenLink } from "./see-links.ts";
import { settle, settleReadingBack } from "./settle.ts";
import { forwardingName, Shared } from "./shared.ts";
import { Settings } from "./settings.ts";
import { Transaction } from "./transaction.ts";

export type LinkHands = Pick<Hands, "netlink" | "sysctl" | "tap">;

/** Faults: NOT_GRANTED, CAPABILITY_MISUSED (nothing was done), NETLINK_FAILED (what was done is undone; the details say what could not be). */
export async function apply(
  scope: LinkScope,
  hands: LinkHands,
  clock: () => number,
  operations: readonly LinksOperation[],
): Promise<Result<readonly LinksLink[]>> {
  const used = checkOperations(scope, operations);
  if (!used.ok) return used;
  const pod = scope.attachment?.netns ?? "";
  const namespaces = new Namespaces(hands, pod);
  const transaction = new Transaction(namespaces);
  const acting = new Acting(scope, namespaces, transaction, new Settings(hands, pod));
  const bridges = [...used.value.host].flatMap(([name, uses]) =>
    uses.some(({ use }) => use === "ensure" || use === "master") ? [name] : [],
  );
  const forwarding = operations.flatMap((each) => (each.tag === "enable-forwarding" ? [forwardingName(each.val)] : []));
  const shared = await Shared.enter([...used.value.host.keys(), ...forwarding]);
  let how: "succeeded" | "failed" = "failed";
  try {
    const wished = wishedBridge(operations, bridges);
    const guessed = wished === undefined ? undefined : lastIndexes.get(wished);
    const there = await readLinks(namespaces, scope, used.value, guessed === undefined ? [] : [addressesRequest(guessed)]);
    if (!there.ok) return there;
    for (const place of ["host", "pod"] as const) {
      for (const [name, state] of there.value[place]) acting.links.learn({ place, name, index: state.index, state, made: false });
    }
    if (wished !== undefined) learnAddresses(acting, wished, guessed, there.value.further[0]);
    const done = await actAll(acting, operations, clock);
    if (done.ok) {
      how = "succeeded";
      return done;
    }
    return failed(withDetails(done.fault, await transaction.undo(shared.takeBack())));
  } finally {
    shared.leave(how);
  }
}

async function actAll(
  acting: Acting,
  operations: readonly LinksOperation[],
  clock: () => number,
): Promise<Result<readonly LinksLink[]>> {
  const { links, transaction } = acting;
  const readBack = (): Promise<readonly SeenLink[]> =>
    seeLinks(
      transaction,
      links.answered(),
      (place, index) => links.all().find((link) => link.place === place && link.index === index)?.state,
    );
  for (const [number, operation] of operations.entries()) {
    acting.begin(operationText(number, operation.tag));
    if (operation.tag === "settle" && number === operations.length - 1) {
      links.name(operation.val.link.place, operation.val.link.name);
      const settled = await settleReadingBack(acting, operation.val, clock, readBack);
      if (settled.ok) return ok(settled.value.map(linkAnswer));
      await transaction.flush();
      return failed(transaction.failure ?? settled.fault);
    }
    const acted = await act(acting, operation, clock);
    if (!acted.ok) {
      // Something before it may have failed, which is known when it has been answered.
      await transaction.flush();
      return failed(transaction.failure ?? acted.fault);
    }
    for (const { place, name } of demandsOf(operation)) links.name(place, name);
  }
  acting.begin("reading back");
  const seen = await readBack();
  return (await transaction.flush()) ? ok(seen.map(linkAnswer)) : acting.failed();
}

async function act(acting: Acting, operation: LinksOperation, clock: () => number): Promise<Result<void>> {
  switch (operation.tag) {
    case "ensure-bridge":
      return ensureBridge(acting, operation.val);
    case "ensure-vlan-gateway":
      return ensureVlanGateway(acting, operation.val);
    case "add-veth":
      return addVeth(acting, operation.val);
    case "add-macvlan":
      return addMacvlan(acting, operation.val);
    case "add-ipvlan":
      return addIpvlan(acting, operation.val);
    case "add-vlan":
      return addVlan(acting, operation.val);
    case "add-dummy":
      return addDummy(acting, operation.val);
    case "add-vrf":
      return addVrf(acting, operation.val);
    case "add-tap":
      return addTap(acting, operation.val);
    case "delete-link":
      return deleteLink(acting, operation.val);
    case "change-link":
      return changeLink(acting, operation.val);
    case "change-port":
      return changePort(acting, operation.val);
    case "add-port-vlan":
      return changePortVlans(acting, operation.val, "add");
    case "delete-port-vlan":
      return changePortVlans(acting, operation.val, "delete");
    case "add-address":
      return addAddress(acting, operation.val);
    case "ensure-address":
      return ensureAddress(acting, operation.val);
    case "delete-address":
      return deleteAddress(acting, operation.val);
    case "add-route":
      return addRoute(acting, operation.val);
    case "delete-route":
      return deleteRoute(acting, operation.val);
    case "add-neighbour":
      return addNeighbour(acting, operation.val);
    case "delete-neighbour":
      return deleteNeighbour(acting, operation.val);
    case "set-interface":
      return setInterface(acting, operation.val);
    case "enable-forwarding":
      return enableForwarding(acting, operation.val);
    case "settle":
      return settle(acting, operation.val, clock);
    default:
      return operation satisfies never;
  }
}

/** The bridge whose addresses will be asked for, which costs a message of its own unless its index is known. */
function wishedBridge(operations: readonly LinksOperation[], bridges: readonly string[]): string | undefined {
  const wish = operations.find((each) => each.tag === "ensure-address" && each.val.link.place === "host");
  const name = wish?.tag === "ensure-address" ? wish.val.link.name : undefined;
  return name !== undefined && bridges.includes(name) ? name : undefined;
}

/** Indexes that bridges had when they were last seen: their addresses are asked for together with them, and count where it is the same still. */
const lastIndexes = new Map<string, number>();
const mostIndexes = 256;

function learnAddresses(acting: Acting, name: string, guessed: number | undefined, told: NetlinkAnswer | undefined): void {
  const index = acting.links.find("host", name)?.index;
  if (index === undefined) {
    lastIndexes.delete(name);
    return;
  }
  if (lastIndexes.size >= mostIndexes) lastIndexes.clear();
  lastIndexes.set(name, index);
  if (index !== guessed || told === undefined || told.errno !== 0 || told.interrupted) return;
  acting.learnAddresses("host", name, index, told);
}

function withDetails(reason: Fault, left: readonly string[]): Fault {
  if (left.length === 0) return reason;
  return { ...reason, details: [...left, ...(reason.details === undefined ? [] : [reason.details])].join("\n") };
}
