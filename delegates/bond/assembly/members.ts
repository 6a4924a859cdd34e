// The members of the bond: operations that make links of the pod or devices of the node its members, and release them.

import { Bond, Change, DeviceSelector, Link, LinkName, Operation, Place, read, Taking } from "plexus/abi/links";
import { Fault } from "plexus/abi/types";
import { invalidConfig, ownFault } from "plexus/faults";
import { broughtUp } from "plexus/pod-interface";
import { Some } from "plexus/some";
import { NO_MEMBER } from "./codes";
import { Settings } from "./settings";

const defaultMtu: u32 = 1500;

/** Appends the operations that make the bond with its members, all up but the bond. */
export function bondOf(name: string, settings: Settings, operations: Array<Operation>): Fault | null {
  const links = settings.inPod ? read(namesOf(settings)) : null;
  if (links !== null && !links.isOk) return links.error;
  if (links !== null) {
    const fault = memberMistake(settings, links.value);
    if (fault !== null) return fault;
  }
  if (links === null) takeDevices(settings, operations);
  const bond = new Bond(name, settings.mode);
  bond.monitorInterval = new Some<u32>(settings.monitorInterval);
  bond.failOverMac = new Some<u8>(settings.failOverMac);
  bond.allMembersActive = settings.allMembersActive;
  bond.dynamicBalancing = settings.dynamicBalancing;
  bond.transmitHash = settings.transmitHash;
  if (settings.mtu != 0) bond.mtu = new Some<u32>(settings.mtu);
  operations.push(Operation.addBond(bond));
  for (let i = 0; i < settings.members.length; i++) {
    const member = new LinkName(Place.Pod, settings.members[i]);
    // A member must be down when it joins. A device that moved in is.
    const down = new Change(member);
    down.up = new Some<bool>(false);
    if (links !== null) operations.push(Operation.changeLink(down));
    const joined = new Change(member);
    joined.master = name;
    operations.push(Operation.changeLink(joined));
    operations.push(Operation.changeLink(broughtUp(member)));
  }
  return null;
}

/** The operations that give members free after the bond was removed: links of the pod come up, devices of the node go back. */
export function release(settings: Settings, operations: Array<Operation>): Fault | null {
  if (!settings.inPod) {
    for (let i = 0; i < settings.members.length; i++) operations.push(Operation.giveBack(settings.members[i]));
    return null;
  }
  const links = read(namesOf(settings));
  if (!links.isOk) return links.error;
  for (let i = 0; i < links.value.length; i++)
    operations.push(Operation.changeLink(broughtUp(new LinkName(Place.Pod, links.value[i].name))));
  return null;
}

/** The members as links of the pod. */
export function namesOf(settings: Settings): Array<LinkName> {
  const names: Array<LinkName> = [];
  for (let i = 0; i < settings.members.length; i++) names.push(new LinkName(Place.Pod, settings.members[i]));
  return names;
}

function takeDevices(settings: Settings, operations: Array<Operation>): void {
  for (let i = 0; i < settings.members.length; i++) {
    const device = new DeviceSelector();
    device.name = settings.members[i];
    operations.push(Operation.takeDevice(new Taking(device, settings.members[i], false)));
  }
}

function memberMistake(settings: Settings, links: Array<Link>): Fault | null {
  if (links.length < settings.members.length)
    return ownFault(NO_MEMBER, `failed to confirm that all of the links ${settings.members.join(", ")} exist in the pod`);
  const mtu = settings.mtu == 0 ? defaultMtu : settings.mtu;
  for (let i = 0; i < links.length; i++) {
    if (mtu > links[i].mtu)
      return invalidConfig(
        "mtu",
        `invalid MTU ${mtu}: the bond's is bigger than that of the link ${links[i].name}, which is ${links[i].mtu}`,
      );
  }
  return null;
}
