// `ensure-bridge` and `ensure-vlan-gateway`.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { vlanAddition, vlanRemoval } from "../../system/netlink/bridge-port.ts";
import { bridgeChange, linkChange, linkRemoval, linkRequest, portsRequest } from "../../system/netlink/link-change.ts";
import { newBridge, newVeth } from "../../system/netlink/link-creation.ts";
import { acceptRa, type LinkState, linkStateIn, linkStatesIn } from "../../system/netlink/link-state.ts";
import type { LinksBridge, LinksVlanGateway } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { type LinkTransaction, randomMac, randomVethName } from "./link-transaction.ts";
import { gatewayName } from "./link-uses.ts";
import type { KnownLink } from "./known-links.ts";
import { linkText } from "./link-scope.ts";
import { undosOfLostState } from "./restore-lost-state.ts";
import { refusalText } from "./namespaces.ts";
import type { Undo } from "./effect-queue.ts";
import { ENOENT } from "../../system/errno.ts";

/** Makes the bridge or sets an existing one up, and enables VLAN filtering where requested. */
export async function ensureBridge(transaction: LinkTransaction, bridge: LinksBridge): Promise<Result<void>> {
  const { name, mtu, vlanFiltering, defaultPvid } = bridge;
  let known = transaction.links.find("host", name);
  if (known === undefined) {
    // A bridge keeps a MAC that was set. Otherwise it takes the lowest MAC of its ports, and changes with them.
    const mac = randomMac();
    const undo = (index: number): readonly Undo[] => [removalOfBridge(transaction, name, index)];
    const made = await transaction.make("host", name, newBridge({ name, mac, mtu, vlanFiltering, defaultPvid }), {
      mac,
      existing: "allowed",
      undo,
      shared: name,
    });
    if (!made.ok) return made;
    if (made.value !== undefined) {
      known = { place: "host", name, index: made.value.index, state: made.value, isNew: true };
      transaction.links.learn(known);
      refuseRouterAdvertisements(transaction, known);
      return ok(undefined);
    }
    // Another apply or process has made the bridge since the links were read.
    const found = await readBridge(transaction, name);
    if (!found.ok) return found;
    known = { place: "host", name, index: found.value.index, state: found.value, isNew: false };
    transaction.links.learn(known);
  }
  const changed = await changeBridge(transaction, known, bridge);
  if (!changed.ok) return changed;
  refuseRouterAdvertisements(transaction, known);
  return ok(undefined);
}

async function changeBridge(
  transaction: LinkTransaction,
  link: KnownLink,
  { vlanFiltering, defaultPvid }: LinksBridge,
): Promise<Result<void>> {
  const { effects } = transaction;
  const { index, state, name } = link;
  const up = await setUp(transaction, link);
  if (!up.ok) return up;
  const change = {
    vlanFiltering: vlanFiltering && state?.vlanFiltering !== true ? true : undefined,
    defaultPvid: defaultPvid === undefined || defaultPvid === state?.defaultPvid ? undefined : defaultPvid,
  };
  if (change.vlanFiltering === undefined && change.defaultPvid === undefined) return ok(undefined);
  const before = {
    vlanFiltering: change.vlanFiltering === undefined ? undefined : false,
    defaultPvid: change.defaultPvid === undefined ? undefined : state?.defaultPvid,
  };
  const action = `changing the VLAN filtering of ${name}`;
  const undo = (): readonly Undo[] => [{ place: "host", request: bridgeChange(index, before), action, shared: name }];
  effects.send("host", { request: bridgeChange(index, change), action, undo });
  return ok(undefined);
}

/** Sets a link of the node up unless it is up. */
async function setUp(transaction: LinkTransaction, link: KnownLink): Promise<Result<void>> {
  const { index, state, name, isNew } = link;
  if (state?.up === true) return ok(undefined);
  const action = `setting ${linkText("host", name)} up`;
  const lost = isNew || state === undefined ? ok([]) : await undosOfLostState(transaction, link, state, { up: true });
  if (!lost.ok) return lost;
  const undos: readonly Undo[] = [{ place: "host", request: linkChange(index, { up: false }), action }, ...lost.value];
  const undo: readonly Undo[] = isNew ? [] : undos.map((each) => ({ ...each, shared: name }));
  transaction.effects.send("host", { request: linkChange(index, { up: true }), action, undo: () => undo });
  return ok(undefined);
}

/** Makes the node ignore IPv6 router advertisements on the link: no pod may add routes or addresses to the node. */
export function refuseRouterAdvertisements(transaction: LinkTransaction, link: KnownLink): void {
  if (link.state !== undefined && acceptRa(link.state) === 0) return;
  transaction.set(link, `net/ipv6/conf/${link.state?.name ?? link.name}/accept_ra`, "0", "ignored");
}

async function readBridge(transaction: LinkTransaction, name: string): Promise<Result<LinkState>> {
  const answer = await transaction.ask("host", linkRequest(name), `reading ${linkText("host", name)}`);
  if (!answer.ok) return answer;
  const [state] = linkStatesIn(answer.value);
  if (state?.kind === "bridge" && state.name === name) return ok(state);
  return failed(
    fault(
      "NETLINK_FAILED",
      `links: ${transaction.label}: ${linkText("host", name)} exists and is not a bridge. Remove that link, or configure another bridge.`,
    ),
  );
}

/** The undo of a new bridge: removes it unless it has a port, because another attachment uses it then. */
function removalOfBridge({ namespaces }: LinkTransaction, name: string, index: number): Undo {
  const run = async (): Promise<string | undefined> => {
    const [ports] = (await namespaces.exchange("host", [portsRequest(index)])).answers;
    const isPort = ports?.messages.some((message) => linkStateIn(message)?.master === index);
    if (isPort !== false) return undefined;
    const [removed] = (await namespaces.exchange("host", [linkRemoval(index)])).answers;
    return removed === undefined || removed.errno === 0 ? undefined : refusalText(removed);
  };
  return { run, action: `making ${linkText("host", name)}`, shared: name };
}

/** Makes the gateway of a bridge's VLAN: a veth on the node, whose other end is the bridge's port and in the VLAN, untagged. */
export async function ensureVlanGateway(transaction: LinkTransaction, gateway: LinksVlanGateway): Promise<Result<void>> {
  const name = gatewayName(gateway);
  const { mtu } = gateway;
  const bridge = transaction.link({ place: "host", name: gateway.bridge });
  if (!bridge.ok) return bridge;
  const existing = transaction.links.find("host", name);
  if (existing !== undefined) return useGateway(transaction, existing, gateway, bridge.value);
  const [portMac, mac] = [randomMac(), randomMac()];
  const port = { name: randomVethName(), mac: portMac, mtu, master: bridge.value.index };
  const request = newVeth({ near: port, far: { name, mac, mtu }, farIn: "same namespace" });
  const made = await transaction.make("host", port.name, request, { mac: portMac, shared: name, existing: "allowed" });
  if (!made.ok) return made;
  if (made.value === undefined) return adoptGateway(transaction, gateway, bridge.value);
  const { index: portIndex = 0, link: index = 0 } = made.value;
  putIntoVlan(transaction, portIndex, gateway, bridge.value);
  transaction.effects.send("host", { request: linkChange(index, { up: true }), action: `setting ${name} up` });
  const read = await transaction.ask("host", linkRequest(index), `reading ${linkText("host", name)}`);
  if (!read.ok) return read;
  const [state] = linkStatesIn(read.value);
  const known = { place: "host", name, index, state, isNew: true } as const;
  transaction.links.learn(known);
  refuseRouterAdvertisements(transaction, known);
  return ok(undefined);
}

/** Puts a gateway's port into its VLAN, and takes the port out of the bridge's default VLAN unless that is kept. */
function putIntoVlan({ effects }: LinkTransaction, port: number, gateway: LinksVlanGateway, { state }: KnownLink): void {
  const { id, keepDefaultVlan } = gateway;
  const name = gatewayName(gateway);
  const pvid = state?.defaultPvid ?? 1;
  const gatewayVlan = { first: id, last: id, pvid: true, untagged: true };
  const defaultVlan = { first: pvid, last: pvid, pvid: false, untagged: false };
  if (!keepDefaultVlan && pvid !== 0 && pvid !== id) {
    const action = `removing VLAN ${pvid} from the port of ${name}`;
    effects.send("host", { request: vlanRemoval(port, defaultVlan, false), action, ignoredErrnos: [ENOENT] });
  }
  effects.send("host", { request: vlanAddition(port, gatewayVlan, false), action: `adding VLAN ${id} to the port of ${name}` });
}

/** Uses an existing gateway. One that is down belongs to a call that was killed before its last change, or that still runs: the changes are made again. */
function useGateway(
  transaction: LinkTransaction,
  existing: KnownLink,
  gateway: LinksVlanGateway,
  bridge: KnownLink,
): Result<void> | Promise<Result<void>> {
  const { state } = existing;
  if (state?.up !== false) return ok(undefined);
  if (state.link !== undefined && state.linkNamespace === undefined) putIntoVlan(transaction, state.link, gateway, bridge);
  refuseRouterAdvertisements(transaction, existing);
  return setUp(transaction, existing);
}

/** Uses a gateway that another apply or process has made since the links were read. */
async function adoptGateway(transaction: LinkTransaction, gateway: LinksVlanGateway, bridge: KnownLink): Promise<Result<void>> {
  const name = gatewayName(gateway);
  const read = await transaction.ask("host", linkRequest(name), `reading ${linkText("host", name)}`);
  if (!read.ok) return read;
  const [state] = linkStatesIn(read.value);
  if (state?.name !== name || state.kind !== "veth" || state.linkNamespace !== undefined)
    return failed(
      fault(
        "NETLINK_FAILED",
        `links: ${transaction.label}: ${linkText("host", name)} exists and is not a VLAN gateway. Remove that link, or configure another VLAN.`,
      ),
    );
  const known = { place: "host", name, index: state.index, state, isNew: false } as const;
  transaction.links.learn(known);
  return useGateway(transaction, known, gateway, bridge);
}
