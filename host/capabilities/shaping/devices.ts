// The `ifb` devices of attachments. A device's description marks its owner, so that GC finds devices whose veth is gone. The name is the reference
// plugin's: a DEL after the migration of a node removes the device that the native plugin made.

import { ok, type Result } from "../../../src/fault/result.ts";
import { type Ifb, ifbIn, ifbsRequest } from "../../system/netlink/ifb.ts";
import { linkRemoval } from "../../system/netlink/link-change.ts";
import { chainName, type NetworkDelegate, type Owner, prefixOf } from "../firewall/owner.ts";
import { sha512 } from "../firewall/sha512.ts";
import { list, type Message, type ShapingShim } from "./kernel.ts";

const PURPOSE = "shaping";
/** The beginning of all descriptions that Plexus writes. */
const MARK = "plexus/";
const maxNameLength = 15;

/** The description of an attachment's device: `plexus/shaping/bandwidth/pods/0c5f…/eth0`. */
export function descriptionOf(owner: Owner): string {
  return `${MARK}${chainName(PURPOSE, owner)}`;
}

/** The beginning of the descriptions of a delegate's devices in a network. */
function descriptionPrefix(delegate: NetworkDelegate): string {
  return `${MARK}${prefixOf(PURPOSE, delegate)}`;
}

function named(text: string): string {
  return `bwp${sha512(text)}`.slice(0, maxNameLength);
}

/** The device's name by the reference plugin, and the name where another attachment of the container has that one. */
export function deviceNames({
  network,
  containerId,
  ifname,
}: Pick<Owner, "network" | "containerId" | "ifname">): readonly [string, string] {
  return [named(`${network}${containerId}`), named(`${network}${containerId}/${ifname}`)];
}

/** The devices of the node that concern an attachment. */
export interface Devices {
  /** The attachment's own, the native plugin's included. */
  readonly own: readonly Ifb[];
  /** The name of a new device. */
  readonly name: string;
}

/** Reads the devices that concern an attachment. Fault: NETLINK_FAILED. */
export async function readDevices(shim: ShapingShim, owner: Owner): Promise<Result<Devices>> {
  const all = await listDevices(shim);
  if (!all.ok) return all;
  const [first, second] = deviceNames(owner);
  const description = descriptionOf(owner);
  // Without a description: the native plugin's, or one of a call that ended before it wrote the description.
  const isOwn = ({ name, description: other }: Ifb): boolean =>
    other === description || (other === "" && (name === first || name === second));
  const isTaken = all.value.some((device) => device.name === first && !isOwn(device));
  return ok({ own: all.value.filter(isOwn), name: isTaken ? second : first });
}

/** The devices of a delegate in a network, with the attachments' parts of their descriptions. Fault: NETLINK_FAILED. */
export async function devicesOf(
  shim: ShapingShim,
  delegate: NetworkDelegate,
): Promise<Result<readonly { readonly device: Ifb; readonly attachment: string }[]>> {
  const all = await listDevices(shim);
  if (!all.ok) return all;
  const prefix = descriptionPrefix(delegate);
  return ok(
    all.value.flatMap((device) =>
      device.description.startsWith(prefix) ? [{ device, attachment: device.description.slice(prefix.length) }] : [],
    ),
  );
}

/** The message that removes a device. */
export function deviceRemoval({ index, name }: Ifb): Message {
  return { request: linkRemoval(index), action: `removing the device ${name}` };
}

/** All `ifb` devices of the node. */
export async function listDevices(shim: ShapingShim): Promise<Result<readonly Ifb[]>> {
  const messages = await list(shim, { request: ifbsRequest, action: "listing the ifb devices" });
  return messages.ok ? ok(messages.value.flatMap((message) => ifbIn(message) ?? [])) : messages;
}
