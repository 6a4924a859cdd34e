// A link in the form of the WIT interface.

import { formatCidr } from "../../../src/net/ip.ts";
import type { LinksDeviceFacts, LinksLink } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { ParentDevice } from "../../system/netlink/link-state.ts";
import { listedFor } from "../pod-lists.ts";
import { Sysfs } from "./devices/sysfs.ts";
import type { LinkDetails } from "./link-details.ts";

const sysfs = new Sysfs();

/** The records `link` of the WIT interface. */
export function linkAnswers(call: { readonly verb: string }, details: readonly LinkDetails[]): readonly LinksLink[] {
  return details.map((each) => {
    const { addresses, state } = each;
    const alternativeNames = listedFor(call, each.place, state.alternativeNames);
    return linkAnswer({ ...each, state: { ...state, alternativeNames }, addresses: listedFor(call, each.place, addresses) });
  });
}

function linkAnswer({ place, state, addresses, vlans, master, link, members }: LinkDetails): LinksLink {
  const { index, name, kind, mac, mtu, up, running, promiscuous, allMulticast, txQueueLength, alternativeNames } = state;
  return {
    place,
    name,
    index,
    kind,
    mac: mac === "" ? undefined : mac,
    mtu,
    up,
    running,
    promiscuous,
    allMulticast,
    txQueueLength,
    alternativeNames,
    master,
    peer: kind === "veth" ? link : undefined,
    parent: kind === "veth" ? undefined : link,
    mode: state.mode,
    vlanId: state.vlanId,
    vlanFiltering: state.vlanFiltering,
    port: state.port,
    portVlans: vlans,
    members,
    carrier: state.carrier,
    peerIndex: kind === "veth" ? state.link : undefined,
    device: state.parentDevice === undefined ? undefined : factsOf(state.parentDevice, name),
    addresses: addresses.map(({ cidr, tentative, dadFailed }) => ({ address: formatCidr(cidr), tentative, dadFailed })),
  };
}

/** The physical function has its name on the node, which a link's own messages do not tell. `find-device` does. */
function factsOf(device: ParentDevice, name: string): LinksDeviceFacts {
  return sysfs.factsOf(device, name, () => undefined);
}
