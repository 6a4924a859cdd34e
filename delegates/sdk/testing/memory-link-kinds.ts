// Makes simulated links, kind by kind, with the kernel's refusals of taken names and absent parents.

import type { LinksLinkName } from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { defined, inHost, type OperationOf, Refusal, type VisibleLinks } from "./visible-links.ts";

/** Answers the links that the operation made, or that exist as it wants them. */
export function makeLink(
  links: VisibleLinks,
  operation: OperationOf<
    | "ensure-bridge"
    | "ensure-vlan-gateway"
    | "add-veth"
    | "add-macvlan"
    | "add-ipvlan"
    | "add-vlan"
    | "add-dummy"
    | "add-tap"
    | "add-vrf"
    | "add-bond"
  >,
): readonly LinksLinkName[] {
  switch (operation.tag) {
    case "ensure-bridge": {
      const { name, mtu, vlanFiltering } = operation.val;
      const at = inHost(name);
      const existing = links.get(at);
      if (existing !== undefined && existing.link.kind !== "bridge") throw new Refusal(`${name} exists and is not a bridge`);
      const { link } = existing ?? links.make(at, "bridge");
      if (existing === undefined && mtu !== undefined) link.mtu = mtu;
      link.vlanFiltering = vlanFiltering || link.vlanFiltering === true;
      link.up = true;
      return [at];
    }
    case "ensure-vlan-gateway": {
      const { bridge, id, mtu } = operation.val;
      links.find(inHost(bridge));
      const at = inHost(`${bridge}.${id}`);
      const { link } = links.get(at) ?? links.make(at, "veth");
      Object.assign(link, defined({ mtu }), { up: true, running: true });
      return [at];
    }
    case "add-veth": {
      const { name, hostName, mac, hostMac, mtu, master, port, vlans, up } = operation.val;
      const inPod = { place: "pod", name } as const;
      const outside = inHost(hostName ?? `veth${links.table.made}`);
      const knownInPod = links.create(inPod, "veth", { mac, mtu });
      const knownOutside = links.create(outside, "veth", { mac: hostMac, mtu });
      knownInPod.peerKey = links.keyOf(outside);
      knownOutside.peerKey = links.keyOf(inPod);
      const [pod, host] = [knownInPod.link, knownOutside.link];
      if (master !== undefined) links.find(inHost(master));
      Object.assign(pod, { up, running: up, peer: outside.name });
      Object.assign(host, { up: true, running: up, peer: name, master, port, portVlans: vlans });
      return [inPod, outside];
    }
    case "add-macvlan":
    case "add-ipvlan": {
      const { name, parent, mode, mtu } = operation.val;
      const { link } = links.find(parent);
      const at = { place: "pod", name } as const;
      const mac = "mac" in operation.val ? operation.val.mac : undefined;
      const kind = operation.tag === "add-macvlan" ? "macvlan" : "ipvlan";
      Object.assign(links.create(at, kind, { mac, mtu: mtu ?? link.mtu }).link, { parent: parent.name, mode });
      return [at];
    }
    case "add-vlan": {
      const { name, parent, id, mtu } = operation.val;
      const { link } = links.find(parent);
      const at = { place: "pod", name } as const;
      Object.assign(links.create(at, "vlan", { mtu: mtu ?? link.mtu }).link, { parent: parent.name, vlanId: id });
      return [at];
    }
    case "add-dummy":
    case "add-tap":
    case "add-vrf": {
      const at = { place: "pod", name: operation.val.name } as const;
      const known = links.create(
        at,
        operation.tag === "add-tap" ? "tun" : operation.tag.slice(4),
        operation.tag === "add-vrf" ? {} : operation.val,
      );
      if (operation.tag === "add-vrf") known.vrfTable = operation.val.table;
      return [at];
    }
    case "add-bond": {
      const at = { place: "pod", name: operation.val.name } as const;
      links.create(at, "bond", operation.val).link.mode = operation.val.mode;
      return [at];
    }
    default:
      return operation satisfies never;
  }
}
