// A link in the form of the WIT interface.

import { formatCidr } from "../../../src/net/ip.ts";
import type { LinksLink } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { LinkDetails } from "./link-details.ts";

/** The record `link` of the WIT interface. */
export function linkAnswer({ place, state, addresses, vlans, master, link }: LinkDetails): LinksLink {
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
    members: [],
    carrier: running,
    addresses: addresses.map(({ cidr, tentative, dadFailed }) => ({ address: formatCidr(cidr), tentative, dadFailed })),
  };
}
