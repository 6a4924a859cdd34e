// `apply`: checks all operations, reads the links that they use, carries them out, and reads the links back. If one fails, all are undone.

import type { Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { SysctlEffects } from "../../protocol/shim.ts";
import type { LinksLink, LinksOperation } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { addressesRequest } from "../../system/netlink/address.ts";
import type { NetlinkAnswer } from "../../system/netlink/message.ts";
import type { CallScope } from "./call-scope.ts";
import { LinkTransaction } from "./link-transaction.ts";
import { changeLink, changePort, changePortVlans, deleteLink, enableForwarding, setInterface } from "./change-links.ts";
import { checkedWithAliases, checkOperations } from "./check-operations.ts";
import { linkUsesOf } from "./link-uses.ts";
import { addAddress, addNeighbour, addRoute, deleteAddress, deleteNeighbour, deleteRoute, ensureAddress } from "./layer3.ts";
import { linkAnswers } from "./link-answer.ts";
import { operationText } from "./link-scope.ts";
import { ensureBridge, ensureVlanGateway } from "./make-bridge.ts";
import { addBond, addDummy, addIpvlan, addMacvlan, addTap, addVlan, addVrf } from "./make-pod-links.ts";
import { addVeth } from "./make-veth.ts";
import { Namespaces, type NamespaceShim } from "./namespaces.ts";
import { readUsedLinks } from "./verify-links.ts";
import { readDetails, type LinkDetails } from "./link-details.ts";
import { rememberLink } from "./remembered-links.ts";
import { settle, settleReadingBack } from "./settle.ts";
import { forwardingResource, SharedResources } from "./shared-resources.ts";
import { Settings } from "./settings.ts";
import { EffectQueue } from "./effect-queue.ts";

/** The effects of the shim that `links` needs. */
export interface LinkShim extends NamespaceShim, SysctlEffects {}

/**
 * Carries out operations in order and answers the links that they name. Faults: NOT_GRANTED and CAPABILITY_MISUSED before any change;
 * NETLINK_FAILED with all changes undone, and the details name those that could not be. `clock`: monotonic milliseconds.
 */
export async function apply(
  scope: CallScope,
  shim: LinkShim,
  clock: () => number,
  operations: readonly LinksOperation[],
): Promise<Result<readonly LinksLink[]>> {
  const podNetns = scope.attachment?.netns ?? "";
  const namespaces = new Namespaces(shim, podNetns);
  const used = await checkedWithAliases(scope, namespaces, hostNamesOf(operations), () => checkOperations(scope, operations));
  if (!used.ok) return used;
  const effects = new EffectQueue(namespaces);
  const transaction = new LinkTransaction(scope, namespaces, effects, new Settings(shim, podNetns), scope.aliases);
  const bridges = [...used.value.host].flatMap(([name, uses]) =>
    uses.some(({ use }) => use === "ensure" || use === "master") ? [name] : [],
  );
  const forwarding = operations.flatMap((each) => (each.tag === "enable-forwarding" ? [forwardingResource(each.val)] : []));
  const shared = await SharedResources.enter([...used.value.host.keys(), ...forwarding]);
  let outcome: "succeeded" | "failed" = "failed";
  try {
    const bridge = bridgeToAddress(operations, bridges);
    const lastIndex = bridge === undefined ? undefined : lastIndexes.get(bridge);
    const further = lastIndex === undefined ? [] : [addressesRequest(lastIndex)];
    // A delegate that has just read its links has seen them; the messages name them by their index.
    const read = new Map(scope.readLinks);
    scope.readLinks.clear();
    const existing = await readUsedLinks(namespaces, scope, used.value, further, read);
    if (!existing.ok) return existing;
    for (const place of ["host", "pod"] as const) {
      for (const [name, state] of existing.value[place])
        transaction.links.learn({ place, name, index: state.index, state, isNew: false });
    }
    if (bridge !== undefined) learnAddresses(transaction, bridge, lastIndex, existing.value.furtherAnswers[0]);
    const applied = await applyAll(transaction, operations, clock);
    if (applied.ok) {
      outcome = "succeeded";
      return applied;
    }
    return failed(withDetails(applied.fault, await effects.undo(shared.beginUndo())));
  } finally {
    shared.leave(outcome);
  }
}

async function applyAll(
  transaction: LinkTransaction,
  operations: readonly LinksOperation[],
  clock: () => number,
): Promise<Result<readonly LinksLink[]>> {
  const { links, effects } = transaction;
  const readBack = async (): Promise<readonly LinkDetails[]> => {
    const details = await readDetails(
      effects,
      links.answered(),
      (place, index) => links.all().find((link) => link.place === place && link.index === index)?.state,
      transaction.aliases,
    );
    for (const { place, state } of details) if (place === "pod") rememberLink(transaction.namespaces.podNetns, state);
    return details;
  };
  for (const [number, operation] of operations.entries()) {
    transaction.begin(operationText(number, operation.tag));
    if (operation.tag === "settle" && number === operations.length - 1) {
      links.name(operation.val.link.place, operation.val.link.name);
      const settled = await settleReadingBack(transaction, operation.val, clock, readBack);
      if (settled.ok) return ok(linkAnswers(transaction.scope, settled.value));
      await effects.flush();
      return failed(effects.failure ?? settled.fault);
    }
    const applied = await applyOne(transaction, operation, clock);
    if (!applied.ok) {
      // An earlier effect may have failed: its answer is known after the flush.
      await effects.flush();
      return failed(effects.failure ?? applied.fault);
    }
    for (const { place, name } of linkUsesOf(operation)) links.name(place, name);
  }
  transaction.begin("reading back");
  const details = await readBack();
  return (await effects.flush()) ? ok(linkAnswers(transaction.scope, details)) : transaction.failed();
}

async function applyOne(transaction: LinkTransaction, operation: LinksOperation, clock: () => number): Promise<Result<void>> {
  switch (operation.tag) {
    case "ensure-bridge":
      return ensureBridge(transaction, operation.val);
    case "ensure-vlan-gateway":
      return ensureVlanGateway(transaction, operation.val);
    case "add-veth":
      return addVeth(transaction, operation.val);
    case "add-macvlan":
      return addMacvlan(transaction, operation.val);
    case "add-ipvlan":
      return addIpvlan(transaction, operation.val);
    case "add-vlan":
      return addVlan(transaction, operation.val);
    case "add-dummy":
      return addDummy(transaction, operation.val);
    case "add-vrf":
      return addVrf(transaction, operation.val);
    case "add-tap":
      return addTap(transaction, operation.val);
    case "delete-link":
      return deleteLink(transaction, operation.val);
    case "change-link":
      return changeLink(transaction, operation.val);
    case "change-port":
      return changePort(transaction, operation.val);
    case "add-port-vlan":
      return changePortVlans(transaction, operation.val, "add");
    case "delete-port-vlan":
      return changePortVlans(transaction, operation.val, "delete");
    case "add-address":
      return addAddress(transaction, operation.val);
    case "ensure-address":
      return ensureAddress(transaction, operation.val);
    case "delete-address":
      return deleteAddress(transaction, operation.val);
    case "add-route":
      return addRoute(transaction, operation.val);
    case "delete-route":
      return deleteRoute(transaction, operation.val);
    case "add-neighbour":
      return addNeighbour(transaction, operation.val);
    case "delete-neighbour":
      return deleteNeighbour(transaction, operation.val);
    case "set-interface":
      return setInterface(transaction, operation.val);
    case "enable-forwarding":
      return enableForwarding(transaction, operation.val);
    case "settle":
      return settle(transaction, operation.val, clock);
    case "take-device":
      return (await import("./devices/take-device.ts")).takeDevice(transaction, operation.val);
    case "give-back":
      return (await import("./devices/take-device.ts")).giveBack(transaction, operation.val);
    case "add-bond":
      return addBond(transaction, operation.val);
    case "set-vf":
      return (await import("./devices/set-function.ts")).setVf(transaction, operation.val);
    default:
      return operation satisfies never;
  }
}

/** The node's links that operations use and do not make. */
function hostNamesOf(operations: readonly LinksOperation[]): readonly string[] {
  const uses = operations.flatMap(linkUsesOf).filter(({ place, use }) => place === "host" && use !== "make");
  return [...new Set(uses.map(({ name }) => name))];
}

/** The bridge of the first `ensure-address`. Its addresses are read with the links, which saves a message, if its index is known from an earlier apply. */
function bridgeToAddress(operations: readonly LinksOperation[], bridges: readonly string[]): string | undefined {
  const ensure = operations.find((each) => each.tag === "ensure-address" && each.val.link.place === "host");
  const name = ensure?.tag === "ensure-address" ? ensure.val.link.name : undefined;
  return name !== undefined && bridges.includes(name) ? name : undefined;
}

/** The indexes that bridges had in an earlier apply. Addresses that are read by such an index count only if the bridge still has it. */
const lastIndexes = new Map<string, number>();
const maxIndexes = 256;

function learnAddresses(
  transaction: LinkTransaction,
  name: string,
  lastIndex: number | undefined,
  dump: NetlinkAnswer | undefined,
): void {
  const index = transaction.links.find("host", name)?.index;
  if (index === undefined) {
    lastIndexes.delete(name);
    return;
  }
  if (lastIndexes.size >= maxIndexes) lastIndexes.clear();
  lastIndexes.set(name, index);
  if (index !== lastIndex || dump === undefined || dump.errno !== 0 || dump.interrupted) return;
  transaction.learnAddresses("host", name, index, dump);
}

function withDetails(failure: Fault, notUndone: readonly string[]): Fault {
  if (notUndone.length === 0) return failure;
  return { ...failure, details: [...notUndone, ...(failure.details === undefined ? [] : [failure.details])].join("\n") };
}
