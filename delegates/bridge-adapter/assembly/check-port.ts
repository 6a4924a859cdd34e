// CHECK of the bridge's port: it still treats the pod's frames as the configuration says. Settings that the configuration does not ask for may have any
// value: an administrator may have changed them.

import { Link, PortVlan } from "plexus/abi/links";
import { Fault } from "plexus/abi/types";
import { Some } from "plexus/some";
import { differs } from "./faults";
import { Settings } from "./settings";

/** A VLAN's flags by its number. */
const IN: u8 = 1;
const UNTAGGED: u8 = 2;
const PVID: u8 = 4;
const vlanCount: i32 = 4096;

/** The first difference of the port's settings and VLANs; null: none. */
export function portDiffers(port: Link, settings: Settings): Fault | null {
  const found = port.port;
  if (settings.hairpin && (found === null || !isOn(found.hairpin)))
    return differs(`${port.name} sends no frame back to the pod, but hairpinMode is true`);
  if (settings.portIsolation && (found === null || !isOn(found.isolated)))
    return differs(`${port.name} is not isolated from other ports, but portIsolation is true`);
  if (!settings.vlans.hasPortVlans) return null;
  const wanted = flagsOf(settings.vlans.ofPort());
  const actual = flagsOf(port.portVlans);
  for (let id: i32 = 1; id < vlanCount; id++) {
    if (wanted[id] == actual[id]) continue;
    // The bridge's default VLAN stays without a flag of the configuration.
    if (wanted[id] == 0 && settings.preserveDefaultVlan && (actual[id] & PVID) == 0) continue;
    return differs(`${port.name} is ${textOf(actual[id], id)}, but the configuration says: ${textOf(wanted[id], id)}`);
  }
  return null;
}

function isOn(setting: Some<bool> | null): bool {
  return setting !== null && setting.value;
}

function flagsOf(vlans: Array<PortVlan>): StaticArray<u8> {
  const flags = new StaticArray<u8>(vlanCount);
  for (let i = 0; i < vlans.length; i++) {
    const vlan = vlans[i];
    const flag = IN | (vlan.untagged ? UNTAGGED : 0) | (vlan.pvid ? PVID : 0);
    for (let id = <i32>vlan.first; id <= <i32>vlan.last && id < vlanCount; id++) flags[id] = flag;
  }
  return flags;
}

function textOf(flags: u8, id: i32): string {
  if (flags == 0) return `not in VLAN ${id}`;
  return `in VLAN ${id}, ${flags & UNTAGGED ? "untagged" : "tagged"}${flags & PVID ? ", by default" : ""}`;
}
