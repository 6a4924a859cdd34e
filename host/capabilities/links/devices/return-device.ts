// The return of a taken device to the node, with its earlier name and state.

import { ok } from "../../../../src/fault/result.ts";
import { addressRestoration } from "../../../system/netlink/address.ts";
import { putU32 } from "../../../system/netlink/bytes.ts";
import { EEXIST, ENODEV } from "../../../system/errno.ts";
import { linkChange, linkRename, linkRequest, nameAddition, nameRemoval } from "../../../system/netlink/link-change.ts";
import { linkAlias } from "../../../system/netlink/link-move.ts";
import { type LinkState, linkStatesIn } from "../../../system/netlink/link-state.ts";
import type { NetlinkRequest } from "../../../system/netlink/message.ts";
import { type Namespaces, refusalText } from "../namespaces.ts";
import { deviceInPod, deviceOnNode } from "./device-identity.ts";
import type { DeviceRecord } from "./device-record.ts";
import { linksAt } from "./find-device.ts";

/** `returned`: the device is on the node as before. `absent`: it is in neither namespace, for example because the kernel removed a virtual link. */
export type Returned = "returned" | "absent" | { readonly reason: string };

/** Offset of the link's index in an address message. */
const addressIndex = 4;

/**
 * Finds the device in the pod or on the node, and restores its name and state there. It changes nothing if the state is restored already. `onNode` runs
 * when the device is out of the pod, before its MAC is restored; it answers why it failed.
 */
export async function returnDevice(
  namespaces: Namespaces,
  record: DeviceRecord,
  onNode: () => Promise<string | undefined>,
): Promise<Returned> {
  const inPod = await linksInPod(namespaces, record);
  const nodeLinks = await linksAt(namespaces, "host");
  if (!inPod.ok) return { reason: inPod.fault.msg };
  if (!nodeLinks.ok) return { reason: nodeLinks.fault.msg };
  const own = deviceInPod(record, inPod.value);
  const back = own === undefined ? deviceOnNode(record, nodeLinks.value) : undefined;
  if (own === undefined && back === undefined) return absent(onNode);
  const { name } = record;
  const other = nodeLinks.value.find(
    (link) => link.index !== back?.index && (link.name === name || link.alternativeNames.includes(name)),
  );
  if (other !== undefined)
    return {
      reason: `link ${other.name} of the node has the name ${name} of the device; rename or remove that link, then repeat the call`,
    };
  const moved = own === undefined ? back : await moveBack(namespaces, own, record);
  if (moved === undefined) return absent(onNode);
  if ("reason" in moved) return moved;
  const reason = (await onNode()) ?? (await restore(namespaces, await readAgain(namespaces, moved), record));
  return reason === undefined ? "returned" : { reason };
}

async function absent(onNode: () => Promise<string | undefined>): Promise<Returned> {
  const reason = await onNode();
  return reason === undefined ? "absent" : { reason };
}

/** The pod's links, or the device's alone where the pod has made more links than one answer of the kernel holds. */
async function linksInPod(namespaces: Namespaces, { podIndex }: DeviceRecord): ReturnType<typeof linksAt> {
  const all = await linksAt(namespaces, "pod");
  if (all.ok || podIndex === undefined) return all;
  const [answer] = (await namespaces.exchange("pod", [linkRequest(podIndex)])).answers;
  const isAnswered = answer !== undefined && (answer.errno === 0 || answer.errno === ENODEV);
  return isAnswered ? ok(linkStatesIn(answer)) : all;
}

/** Moves the device out of the pod. */
async function moveBack(
  namespaces: Namespaces,
  own: LinkState,
  record: DeviceRecord,
): Promise<LinkState | { readonly reason: string }> {
  // The pod's alternative names must not follow: the kernel refuses a move that brings a name which another link has.
  const names = own.alternativeNames.filter((name) => !record.alternativeNames.includes(name));
  if (names.length > 0)
    await namespaces.exchange(
      "pod",
      names.map((name) => nameRemoval(own.index, name)),
    );
  const { name } = record;
  const { answers, errno } = await namespaces.returnLink(own.index, name);
  const [moved] = answers;
  if (moved === undefined) return { reason: namespaces.unreachable(errno).msg };
  if (moved.errno !== 0) return { reason: `moving link ${own.name} of the pod to the node as ${name}: ${refusalText(moved)}` };
  const [read] = (await namespaces.exchange("host", [linkRequest(name)])).answers;
  const [state] = linkStatesIn(read);
  return state ?? { reason: `link ${name} is not on the node after its move` };
}

/** The link after its settings were restored, which may have changed its MAC. */
async function readAgain(namespaces: Namespaces, link: LinkState): Promise<LinkState> {
  const [read] = (await namespaces.exchange("host", [linkRequest(link.index)])).answers;
  return linkStatesIn(read)[0] ?? link;
}

/** Restores name, MAC, MTU, alias, alternative names, addresses and the up state. Answers why it could not. */
async function restore(namespaces: Namespaces, link: LinkState, record: DeviceRecord): Promise<string | undefined> {
  const { index } = link;
  const { mac } = record.identity;
  const changes = {
    ...(link.mac === mac || mac === "" ? {} : { mac }),
    ...(link.mtu === record.mtu ? {} : { mtu: record.mtu }),
  };
  const renames = link.name !== record.name;
  const changesLink = Object.keys(changes).length > 0;
  const requests: NetlinkRequest[] = [
    // Kernels before Linux 6.2 rename no link that is up, and some drivers change no MAC then.
    ...(link.up && (renames || changesLink) ? [linkChange(index, { up: false })] : []),
    ...(renames ? [linkRename(index, record.name)] : []),
    ...(changesLink ? [linkChange(index, changes)] : []),
    ...(link.alias === record.alias ? [] : [linkAlias(index, record.alias)]),
    ...record.alternativeNames.filter((name) => !link.alternativeNames.includes(name)).map((name) => nameAddition(index, name)),
    ...addressRequests(record.addresses, index),
    linkChange(index, { up: record.up }),
  ];
  const { answers, errno } = await namespaces.exchange("host", requests);
  const refused = answers.find((answer) => answer !== undefined && answer.errno !== 0 && answer.errno !== EEXIST);
  if (refused !== undefined) return `restoring the device ${record.name}: ${refusalText(refused)}`;
  return errno === 0 ? undefined : namespaces.unreachable(errno).msg;
}

/** The messages that add recorded addresses to a link. */
export function addressRequests(recorded: readonly string[], index: number): readonly NetlinkRequest[] {
  return recorded.map((digits) => {
    const raw = Uint8Array.from(Buffer.from(digits, "hex"));
    putU32(raw, addressIndex, index);
    return addressRestoration(raw);
  });
}
