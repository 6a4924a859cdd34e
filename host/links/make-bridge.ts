// `ensure-bridge` and `ensure-vlan-gateway`.

import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { vlanAddition, vlanRemoval } from "../netlink/bridge-port.ts";
import { bridgeChange, linkChange, linkRemoval, linkRequest, portsRequest } from "../netlink/link-change.ts";
import { newBridge, newVeth } from "../netlink/link-creation.ts";
import { acceptRa, type LinkState, linkStateIn } from "../netlink/link-state.ts";
import type { LinksBridge, LinksVlanGateway } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import { type Acting, randomMac, randomVethName } from "./acting.ts";
import { gatewayName } from "./demands.ts";
import type { KnownLink } from "./known-links.ts";
import { linkText } from "./link-scope.ts";
import { lostWith } from "./lost-with.ts";
import { refusalText } from "./namespaces.ts";
import type { Undo } from "./transaction.ts";

const ENOENT = 2;

/** Makes the bridge, or brings the one that is there up; with VLAN filtering where that is wanted. */
export async function ensureBridge(acting: Acting, bridge: LinksBridge): Promise<Result<void>> {
  const { name, mtu, vlanFiltering, defaultPvid } = bridge;
  let known = acting.links.find("host", name);
  if (known === undefined) {
    // A MAC that was given stays whatever ports the bridge gets.
    const mac = randomMac();
    const undo = (index: number): readonly Undo[] => [unmakeBridge(acting, name, index)];
    const made = await acting.make("host", name, newBridge({ name, mac, mtu, vlanFiltering, defaultPvid }), {
      mac,
      existing: "fine",
      undo,
      shared: name,
    });
    if (!made.ok) return made;
    if (made.value !== undefined) {
      known = { place: "host", name, index: made.value.index, state: made.value, made: true };
      acting.links.learn(known);
      takesNoAdvertisements(acting, known);
      return ok(undefined);
    }
    // Another one was first.
    const found = await readBridge(acting, name);
    if (!found.ok) return found;
    known = { place: "host", name, index: found.value.index, state: found.value, made: false };
    acting.links.learn(known);
  }
  const changed = await changeBridge(acting, known, bridge);
  if (!changed.ok) return changed;
  takesNoAdvertisements(acting, known);
  return ok(undefined);
}

async function changeBridge(acting: Acting, link: KnownLink, { vlanFiltering, defaultPvid }: LinksBridge): Promise<Result<void>> {
  const { transaction } = acting;
  const { index, state, name } = link;
  const raised = await raise(acting, link);
  if (!raised.ok) return raised;
  const change = {
    vlanFiltering: vlanFiltering && state?.vlanFiltering !== true ? true : undefined,
    defaultPvid: defaultPvid === undefined || defaultPvid === state?.defaultPvid ? undefined : defaultPvid,
  };
  if (change.vlanFiltering === undefined && change.defaultPvid === undefined) return ok(undefined);
  const before = {
    vlanFiltering: change.vlanFiltering === undefined ? undefined : false,
    defaultPvid: change.defaultPvid === undefined ? undefined : state?.defaultPvid,
  };
  const what = `changing the VLAN filtering of ${name}`;
  const undo = (): readonly Undo[] => [{ place: "host", request: bridgeChange(index, before), what, shared: name }];
  transaction.send("host", { request: bridgeChange(index, change), what, undo });
  return ok(undefined);
}

/** Brings a link of the node up, unless it is. */
async function raise(acting: Acting, link: KnownLink): Promise<Result<void>> {
  const { index, state, name, made } = link;
  if (state?.up === true) return ok(undefined);
  const what = `setting ${linkText("host", name)} up`;
  const lost = made || state === undefined ? ok([]) : await lostWith(acting, link, state, { up: true });
  if (!lost.ok) return lost;
  const back: readonly Undo[] = [{ place: "host", request: linkChange(index, { up: false }), what }, ...lost.value];
  const undo: readonly Undo[] = made ? [] : back.map((each) => ({ ...each, shared: name }));
  acting.transaction.send("host", { request: linkChange(index, { up: true }), what, undo: () => undo });
  return ok(undefined);
}

/** Its own routes are those that it is given. */
export function takesNoAdvertisements(acting: Acting, link: KnownLink): void {
  if (link.state !== undefined && acceptRa(link.state) === 0) return;
  acting.set(link, `net/ipv6/conf/${link.name}/accept_ra`, "0", "fine");
}

async function readBridge(acting: Acting, name: string): Promise<Result<LinkState>> {
  const answer = await acting.ask("host", linkRequest(name), `reading ${linkText("host", name)}`);
  if (!answer.ok) return answer;
  const [state] = answer.value.messages.flatMap((message) => linkStateIn(message) ?? []);
  if (state?.kind === "bridge" && state.name === name) return ok(state);
  return failed(fault("NETLINK_FAILED", `links: ${acting.by}: ${linkText("host", name)} is there, but is no bridge`));
}

/** A bridge that this apply made goes again, unless another attachment uses it already. */
function unmakeBridge({ namespaces }: Acting, name: string, index: number): Undo {
  const run = async (): Promise<string | undefined> => {
    const [ports] = (await namespaces.exchange("host", [portsRequest(index)])).answers;
    const isPort = ports?.messages.some((message) => linkStateIn(message)?.master === index);
    if (isPort !== false) return undefined;
    const [removed] = (await namespaces.exchange("host", [linkRemoval(index)])).answers;
    return removed === undefined || removed.errno === 0 ? undefined : refusalText(removed);
  };
  return { run, what: `removing ${linkText("host", name)}`, shared: name };
}

/** A veth on the node; the end that is the bridge's port is in the VLAN, untagged. */
export async function ensureVlanGateway(acting: Acting, gateway: LinksVlanGateway): Promise<Result<void>> {
  const name = gatewayName(gateway);
  const { id, mtu, keepDefaultVlan } = gateway;
  const bridge = acting.link({ place: "host", name: gateway.bridge });
  if (!bridge.ok) return bridge;
  const there = acting.links.find("host", name);
  if (there !== undefined) return raise(acting, there);
  const [portMac, mac] = [randomMac(), randomMac()];
  const port = { name: randomVethName(), mac: portMac, mtu, master: bridge.value.index };
  const request = newVeth({ near: port, far: { name, mac, mtu }, farIn: "same namespace" });
  const made = await acting.make("host", port.name, request, { mac: portMac, shared: name, existing: "fine" });
  if (!made.ok) return made;
  if (made.value === undefined) return takeGateway(acting, name);
  const { index: portIndex = 0, link: index = 0 } = made.value;
  const pvid = bridge.value.state?.defaultPvid ?? 1;
  const own = { first: id, last: id, pvid: true, untagged: true };
  const standard = { first: pvid, last: pvid, pvid: false, untagged: false };
  if (!keepDefaultVlan && pvid !== 0 && pvid !== id) {
    const what = `taking VLAN ${pvid} off the port of ${name}`;
    acting.transaction.send("host", { request: vlanRemoval(portIndex, standard, false), what, fine: [ENOENT] });
  }
  acting.transaction.send("host", { request: vlanAddition(portIndex, own, false), what: `putting ${name} into VLAN ${id}` });
  acting.transaction.send("host", { request: linkChange(index, { up: true }), what: `setting ${name} up` });
  const read = await acting.ask("host", linkRequest(index), `reading ${linkText("host", name)}`);
  if (!read.ok) return read;
  const [state] = read.value.messages.flatMap((message) => linkStateIn(message) ?? []);
  const known = { place: "host", name, index, state, made: true } as const;
  acting.links.learn(known);
  takesNoAdvertisements(acting, known);
  return ok(undefined);
}

/** Another one made it meanwhile. */
async function takeGateway(acting: Acting, name: string): Promise<Result<void>> {
  const read = await acting.ask("host", linkRequest(name), `reading ${linkText("host", name)}`);
  if (!read.ok) return read;
  const [state] = read.value.messages.flatMap((message) => linkStateIn(message) ?? []);
  if (state?.name !== name || state.kind !== "veth" || state.linkNamespace !== undefined)
    return failed(fault("NETLINK_FAILED", `links: ${acting.by}: ${linkText("host", name)} is there, but is no VLAN's gateway`));
  const known = { place: "host", name, index: state.index, state, made: false } as const;
  acting.links.learn(known);
  return raise(acting, known);
}
