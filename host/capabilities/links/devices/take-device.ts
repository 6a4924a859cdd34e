// The operations `take-device` and `give-back`.

import { fault } from "../../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../../src/fault/result.ts";
import type { LinksTaking } from "../../../sandbox/abi/generated/delegate-1.1.0.ts";
import { EEXIST } from "../../../system/errno.ts";
import { addressesOf, addressesRequest } from "../../../system/netlink/address.ts";
import { linkRequest } from "../../../system/netlink/link-change.ts";
import { linkAlias, linkMove } from "../../../system/netlink/link-move.ts";
import { type LinkState, linkStatesIn } from "../../../system/netlink/link-state.ts";
import { type DeviceScope, type LinkScope, linkText, misused } from "../link-scope.ts";
import type { LinkTransaction } from "../link-transaction.ts";
import { refusalText } from "../namespaces.ts";
import { adoptedDevice } from "./adopt-device.ts";
import { deviceOnNode, identityOf } from "./device-identity.ts";
import type { DeviceKey, DeviceRecord } from "./device-record.ts";
import { linksAt, selectDevice } from "./find-device.ts";
import { selectorText } from "./selector-text.ts";
import { addressRequests, returnDevice } from "./return-device.ts";
import type { FunctionRecord } from "./function-record.ts";
import { functionsGivenBack, type HeldBy, restoreAll, settingsFor } from "./held-functions.ts";

/** The kernel returns a device of a vanished pod under its name in the pod, or under this one where a link has that name. */
const kernelsName = /^dev\d+$/;

/** Moves a granted device of the node into the pod. Faults: NOT_GRANTED, NETLINK_FAILED, STORE_FAILED. */
export async function takeDevice(transaction: LinkTransaction, taking: LinksTaking): Promise<Result<void>> {
  const { scope, effects, namespaces, label } = transaction;
  const where = attachmentOf(scope, taking.name);
  if (!where.ok) return where;
  if (!(await effects.flush())) return transaction.failed();
  const { store, sysfs } = where.value.devices;
  const links = await linksAt(namespaces, "host");
  if (!links.ok) return links;
  const found = selectDevice(scope, sysfs, links.value, taking.device, label);
  if (!found.ok) return found;
  const listed = store.list();
  if (!listed.ok) return listed;
  const { records, damaged } = listed.value;
  const link = found.value?.link;
  if (link === undefined) {
    const why = [absence(taking, records, found.value !== undefined), ...damaged.map((each) => each.fault.msg)].join("; ");
    return failed(fault("NETLINK_FAILED", `links: ${label}: ${why}`));
  }
  // The device of a vanished pod: its own name and state were in the record.
  const lost = damaged.find(({ podName }) => link.name === podName || kernelsName.test(link.name));
  if (lost !== undefined) return failed(lost.fault);
  const addresses = await transaction.ask(
    "host",
    addressesRequest(link.index),
    `listing the addresses of ${linkText("host", link.name)}`,
  );
  if (!addresses.ok) return addresses;
  const raw = addressesOf(addresses.value, link.index).map((each) => Buffer.from(each.raw).toString("hex"));
  // The kernel returned the device of a vanished pod: its own name and state are in the record of that pod.
  const earlier = records.find((record) => deviceOnNode(record, [link]) !== undefined);
  const set = settingsFor(where.value, link);
  if (!set.ok) return set;
  const record = recordOf(scope, where.value, link, raw, earlier, set.value);
  const saved = store.save(record);
  if (!saved.ok) return saved;
  const action = `moving ${linkText("host", link.name)} into the pod as ${taking.name}`;
  effects.record({ action, run: () => undoTake(transaction, where.value.devices, record) });
  const moved = await namespaces.exchange("host", [linkMove(link.index, taking.name)], true);
  const [answer] = moved.answers;
  if (answer === undefined) return failed(namespaces.unreachable(moved.errno));
  if (answer.errno !== 0) return failed(fault("NETLINK_FAILED", `links: ${label}: ${action}: ${refusalText(answer)}`));
  const read = await transaction.ask("pod", linkRequest(taking.name), `reading ${linkText("pod", taking.name)}`);
  if (!read.ok) return read;
  const [state] = linkStatesIn(read.value);
  if (state === undefined)
    return failed(fault("NETLINK_FAILED", `links: ${label}: ${action}: the pod has no such link after the move`));
  const noted = store.save({ ...record, podIndex: state.index });
  if (!noted.ok) return noted;
  // The undo returns the device with all changes, so that they need no undos of their own.
  transaction.links.learn({ place: "pod", name: taking.name, index: state.index, state, isNew: true });
  // As the reference plugin does, whose DEL then finds the name of a device that this component took.
  effects.send("pod", {
    request: linkAlias(state.index, record.name),
    action: `noting the name of ${linkText("host", link.name)}`,
  });
  if (!taking.keepAddresses) return ok(undefined);
  for (const request of addressRequests(record.addresses, state.index))
    effects.send("pod", { request, action: `adding the addresses of ${linkText("host", link.name)}`, ignoredErrnos: [EEXIST] });
  return ok(undefined);
}

/** Moves the attachment's device back, or restores it on the node. Succeeds also if the attachment has no such device. */
export async function giveBack(transaction: LinkTransaction, name: string): Promise<Result<void>> {
  const { scope, effects, namespaces, label, links } = transaction;
  const where = attachmentOf(scope, name);
  if (!where.ok) return where;
  if (!(await effects.flush())) return transaction.failed();
  const { store } = where.value.devices;
  const known = store.load(where.value);
  if (!known.ok) return known;
  const functions = functionsGivenBack(where.value, name);
  if (!functions.ok) return functions;
  const record = known.value ?? (await adopted(transaction, where.value));
  const restored = (): Promise<string | undefined> => restoreAll(namespaces, where.value.devices, functions.value);
  if (record === undefined) {
    const reason = await restored();
    return reason === undefined ? ok(undefined) : failed(fault("NETLINK_FAILED", `links: ${label}: ${reason}`));
  }
  const returned = await returnDevice(namespaces, record, restored);
  if (typeof returned === "object") return failed(fault("NETLINK_FAILED", `links: ${label}: ${returned.reason}`));
  const removed = store.remove(where.value);
  if (!removed.ok) return removed;
  const action = `giving back ${linkText("pod", name)}`;
  if (returned !== "absent")
    effects.record({ action, run: () => Promise.resolve("a device that was given back is not taken again") });
  links.forget("pod", name);
  return ok(undefined);
}

async function adopted({ scope, namespaces }: LinkTransaction, where: Attached): Promise<DeviceRecord | undefined> {
  if (where.netns === "") return undefined;
  const links = await linksAt(namespaces, "pod");
  const { network, sysfs } = where.devices;
  return links.ok ? adoptedDevice(scope, { ...where, network }, sysfs, links.value) : undefined;
}

interface Attached extends DeviceKey, HeldBy {
  readonly netns: string;
}

function attachmentOf({ devices, attachment, verb }: LinkScope, podName: string): Result<Attached> {
  if (attachment === undefined || devices === undefined) return failed(misused(`a ${verb} call has no pod, and so no device`));
  return ok({ devices, containerId: devices.containerId, ifname: attachment.ifname, podName, netns: attachment.netns });
}

function recordOf(
  { type }: LinkScope,
  { devices, containerId, ifname, podName, netns }: Attached,
  link: LinkState,
  addresses: readonly string[],
  earlier: DeviceRecord | undefined,
  set: FunctionRecord | undefined,
): DeviceRecord {
  const key = { type, network: devices.network, containerId, ifname, podName, netns };
  const { name, mtu, up, alias, alternativeNames } = earlier ?? link;
  const identity = earlier?.identity ?? { ...identityOf(link), mac: set?.linkMac ?? link.mac };
  // The driver may take the MAC that was set at the physical function as the permanent one.
  const own = set === undefined ? identity : { ...identity, permanentMac: "" };
  return { ...key, identity: own, name, mtu, up, alias, alternativeNames, addresses: earlier?.addresses ?? addresses };
}

/** Why there is no link to take. */
function absence({ device }: LinksTaking, records: readonly DeviceRecord[], hasDevice: boolean): string {
  const holder = records.find(
    ({ name, alternativeNames, identity }) =>
      (device.name !== undefined && (name === device.name || alternativeNames.includes(device.name))) ||
      (device.mac !== undefined && [identity.mac, identity.permanentMac].includes(device.mac.toLowerCase())) ||
      (device.deviceId !== undefined && identity.parentDevice?.name === device.deviceId),
  );
  const text = selectorText(device);
  if (holder !== undefined)
    return `the device of the node with ${text} belongs to container ${holder.containerId}, network ${holder.network}, as ${holder.podName}; it is free after the DEL of that attachment`;
  return hasDevice ? `the device of the node with ${text} has no link` : `the node has no device with ${text}`;
}

async function undoTake(
  { namespaces }: LinkTransaction,
  devices: DeviceScope,
  record: DeviceRecord,
): Promise<string | undefined> {
  const { store } = devices;
  const current = store.load(record);
  const functions = functionsGivenBack({ ...record, devices }, record.podName);
  if (!functions.ok) return functions.fault.msg;
  const restored = (): Promise<string | undefined> => restoreAll(namespaces, devices, functions.value);
  const returned = await returnDevice(namespaces, (current.ok ? current.value : undefined) ?? record, restored);
  if (typeof returned === "object") return returned.reason;
  const removed = store.remove(record);
  return removed.ok ? undefined : removed.fault.msg;
}
