// Makes and removes the shape of one attachment. The kernel makes its parts one after the other, so a failure removes those that were made.

import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { ShapingDevice } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { type Ifb, descriptionChange, ifbIn, newIfb } from "../../system/netlink/ifb.ts";
import { linkRequest } from "../../system/netlink/link-change.ts";
import type { LinkState } from "../../system/netlink/link-state.ts";
import { filtersRequest, INGRESS, INGRESS_HANDLE, newIngress, qdiscRemoval, ROOT } from "../../system/netlink/traffic-control.ts";
import { newRedirection, redirectionIn } from "../../system/netlink/u32-filter.ts";
import type { Owner } from "../firewall/owner.ts";
import { deviceRemoval, type Devices, descriptionOf, readDevices } from "./devices.ts";
import { failure, listQdiscs, listTraffic, type Message, send, type ShapingShim } from "./kernel.ts";
import type { Shape } from "./requests.ts";
import { boundMessages, isShapes } from "./shape.ts";

/** With networks, packets of a class wait in a queue of at least this length. */
const minQueueLength = 1000;

/** Makes the shape in place of the attachment's earlier one. Answers the device of `egress`. Fault: NETLINK_FAILED. */
export async function replace(
  shim: ShapingShim,
  owner: Owner,
  link: LinkState,
  shape: Shape,
): Promise<Result<ShapingDevice | undefined>> {
  const devices = await readDevices(shim, owner);
  if (!devices.ok) return devices;
  const removals = await removalMessages(shim, devices.value.own, link);
  if (!removals.ok) return removals;
  const removed = await send(shim, removals.value);
  if (!removed.ok) return removed;
  const made = await make(shim, owner, link, shape, devices.value.name);
  if (made.ok) return made;
  // The failure of this removal would hide the reason of the first.
  await remove(shim, owner, link);
  return made;
}

async function make(
  shim: ShapingShim,
  owner: Owner,
  link: LinkState,
  shape: Shape,
  name: string,
): Promise<Result<ShapingDevice | undefined>> {
  const { ingress, egress } = shape;
  const ingressMessages = ingress === undefined ? [] : boundMessages(link, "ingress", ingress, shape);
  if (egress === undefined) {
    const sent = await send(shim, ingressMessages);
    return sent.ok ? ok(undefined) : sent;
  }
  const queue = shape.bounded === "all" ? 0 : Math.max(link.txQueueLength, minQueueLength);
  const created = await send(shim, [
    { request: newIfb({ name, mtu: link.mtu, txQueueLength: queue }), action: `making the device ${name}` },
    { request: linkRequest(name), action: `reading the device ${name}` },
  ]);
  if (!created.ok) return created;
  const [device] = (created.value[1]?.messages ?? []).flatMap((message) => ifbIn(message) ?? []);
  if (device === undefined) return failed(failure(`making the device ${name}`, "another program removed it at once"));
  const sent = await send(shim, [
    { request: descriptionChange(device.index, descriptionOf(owner)), action: `marking the device ${name}` },
    ...ingressMessages,
    ...boundMessages(device, "egress", egress, shape),
    { request: newIngress(link.index), action: `adding the ingress qdisc of ${link.name}` },
    { request: newRedirection(link.index, device.index), action: `leading the packets of ${link.name} to ${name}` },
  ]);
  return sent.ok ? ok({ name, mac: device.mac }) : sent;
}

/** Removes the attachment's shape; it need not have one. `link`: undefined if it is gone. Fault: NETLINK_FAILED. */
export async function remove(shim: ShapingShim, owner: Owner, link: LinkState | undefined): Promise<Result<undefined>> {
  const devices = await readDevices(shim, owner);
  if (!devices.ok) return devices;
  const messages = await removalMessages(shim, devices.value.own, link);
  if (!messages.ok) return messages;
  const removed = await send(shim, messages.value);
  return removed.ok ? ok(undefined) : removed;
}

/** The messages that remove a shape. Qdiscs that no shape makes stay. */
async function removalMessages(
  shim: ShapingShim,
  own: Devices["own"],
  link: LinkState | undefined,
): Promise<Result<readonly Message[]>> {
  const removals = own.map(deviceRemoval);
  if (link === undefined) return ok(removals);
  const qdiscs = await listQdiscs(shim);
  if (!qdiscs.ok) return qdiscs;
  const present = qdiscs.value.filter((each) => each.link === link.index);
  const root: readonly Message[] = present.some(isShapes)
    ? [{ request: qdiscRemoval(link.index, ROOT), action: `removing the qdisc of ${link.name}` }]
    : [];
  const hasIngress = present.some(({ kind, handle }) => kind === "ingress" && handle === INGRESS_HANDLE);
  const leads = hasIngress ? await leadsTo(shim, link, own) : ok(false);
  if (!leads.ok) return leads;
  const ingress: readonly Message[] = leads.value
    ? [{ request: qdiscRemoval(link.index, INGRESS), action: `removing the ingress qdisc of ${link.name}` }]
    : [];
  return ok([...root, ...ingress, ...removals]);
}

/** Whether the link's incoming packets are led to one of these devices, or to nothing: an interrupted call made no filter yet. */
async function leadsTo(shim: ShapingShim, link: LinkState, devices: readonly Ifb[]): Promise<Result<boolean>> {
  const request = filtersRequest(link.index, INGRESS_HANDLE);
  const filters = await listTraffic(shim, { request, action: `listing the filters of ${link.name}` });
  if (!filters.ok) return filters;
  const targets = filters.value.flatMap(({ options }) => redirectionIn(options) ?? []);
  return ok(filters.value.length === 0 || targets.some((target) => devices.some(({ index }) => index === target)));
}
