// Tries ports of Open vSwitch on bridges, links and interface IDs that are not the attachment's.

import * as ovs from "plexus/abi/ovs";
import { Fault } from "plexus/abi/types";
import { Tries } from "./tries";

/** Tries to make, take over, see and remove a port. `name`: the name in the refusal of a new port. */
export function tryPort(tries: Tries, bridge: string, link: string, name: string): void {
  const port = new ovs.NewPort(bridge, link, "victim-port", "02:00:00:00:00:66");
  tries.refused(`port ${link} of bridge ${bridge}`, name, ovs.addPort(port));
  const unknown = new ovs.NewPort(bridge, link, "", "02:00:00:00:00:66");
  tries.refused(`port ${link} of all VLANs of bridge ${bridge}`, name, ovs.addPort(unknown));
  const settled = ovs.settle(link, 10);
  tries.refused(`settle ${link}`, "", settled.isOk ? null : settled.error);
  const seen = ovs.port(link);
  tries.refused(`port ${link}`, "", seen.isOk ? noneUnless(seen.value !== null) : seen.error);
  const removed = ovs.removePort(link);
  tries.refused(`removal of port ${link}`, "", removed.isOk ? noneUnless(removed.value) : removed.error);
}

/** Tries to see and remove ports of others. */
export function tryPorts(tries: Tries): void {
  const seen = ovs.ports();
  tries.refused("ports", "", seen.isOk ? noneUnless(seen.value.length > 0) : seen.error);
  const removed = ovs.removePorts();
  tries.refused("removal of all ports", "", removed.isOk ? noneUnless(removed.value > 0) : removed.error);
  const retained = ovs.retain([]);
  tries.refused("ovs.retain", "", retained.isOk ? noneUnless(retained.value > 0) : retained.error);
}

/** The answer that the attachment has no such port counts as a refusal. */
function noneUnless(found: bool): Fault | null {
  if (found) return null;
  return new Fault(0, "none");
}
