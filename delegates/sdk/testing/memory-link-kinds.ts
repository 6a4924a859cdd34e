// Makes simulated links, kind by kind, with the kernel's refusals of taken names and absent parents.

import type { LinksLinkName } from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { refuseMaster, refuseMtu, refuseNoPort, refuseTakenName } from "./kernel-rules.ts";
import { setPort } from "./memory-link-settings.ts";
import { Refusal } from "./refusal.ts";
import { defined, inHost, type OperationOf, type VisibleLinks } from "./visible-links.ts";

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
    case "ensure-bridge":
      return [ensureBridge(links, operation.val)];
    case "ensure-vlan-gateway": {
      const { bridge, id, mtu } = operation.val;
      links.find(inHost(bridge));
      const at = inHost(`${bridge}.${id}`);
      const { link } = links.get(at) ?? links.make(at, "veth");
      Object.assign(link, defined({ mtu }), { up: true, running: true });
      return [at];
    }
    case "add-veth":
      return addVeth(links, operation.val);
    case "add-macvlan":
    case "add-ipvlan": {
      const { name, parent, mode, mtu } = operation.val;
      const { link } = links.find(parent);
      const at = { place: "pod", name } as const;
      const mac = "mac" in operation.val ? operation.val.mac : undefined;
      const kind = operation.tag === "add-macvlan" ? "macvlan" : "ipvlan";
      if (kind === "macvlan") refuseMacvlan(links, parent, mode, mtu);
      const known = links.create(at, kind, { mac: mode === "passthru" ? link.mac : mac, mtu: mtu ?? link.mtu });
      Object.assign(known.link, { parent: parent.name, mode });
      known.parentPlace = parent.place;
      return [at];
    }
    case "add-vlan": {
      const { name, parent, id, mtu } = operation.val;
      const { link } = links.find(parent);
      const at = { place: "pod", name } as const;
      const known = links.create(at, "vlan", { mtu: mtu ?? link.mtu });
      Object.assign(known.link, { parent: parent.name, vlanId: id });
      known.parentPlace = parent.place;
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

function ensureBridge(links: VisibleLinks, wanted: OperationOf<"ensure-bridge">["val"]): LinksLinkName {
  const { name, mtu, vlanFiltering } = wanted;
  const at = inHost(name);
  const existing = links.get(at);
  if (existing !== undefined && existing.link.kind !== "bridge") throw new Refusal(`${name} exists and is not a bridge`);
  if (existing === undefined) refuseTakenName(links.at("host"), name);
  refuseMtu("bridge", existing === undefined ? mtu : undefined);
  const { link } = existing ?? links.make(at, "bridge");
  if (existing === undefined && mtu !== undefined) link.mtu = mtu;
  link.vlanFiltering = vlanFiltering || link.vlanFiltering === true;
  link.up = true;
  return at;
}

/** Both ends of the veth, the pod's first. */
function addVeth(links: VisibleLinks, wanted: OperationOf<"add-veth">["val"]): readonly LinksLinkName[] {
  const { name, hostName, mac, hostMac, mtu, master, port, vlans, up } = wanted;
  const inPod = { place: "pod", name } as const;
  const outside = inHost(hostName ?? `veth${links.table.made}`);
  const knownInPod = links.create(inPod, "veth", { mac, mtu });
  const knownOutside = links.create(outside, "veth", { mac: hostMac, mtu });
  knownInPod.peerKey = links.keyOf(outside);
  knownOutside.peerKey = links.keyOf(inPod);
  const [pod, host] = [knownInPod.link, knownOutside.link];
  if (master !== undefined) refuseMaster(links.find(inHost(master)), outside.name);
  if (Object.keys(defined(port ?? {})).length > 0 && master === undefined) refuseNoPort(knownOutside);
  Object.assign(pod, { up, running: up, carrier: up, peer: outside.name });
  Object.assign(host, {
    up: true,
    running: up,
    carrier: up,
    peer: name,
    master,
    port: defined(port ?? {}),
    portVlans: vlans,
  });
  setPort(links, knownOutside);
  return [inPod, outside];
}

/** Throws a Refusal for a macvlan that its lower link cannot have (drivers/net/macvlan.c). */
function refuseMacvlan(links: VisibleLinks, parent: LinksLinkName, mode: string, mtu: number | undefined): void {
  const { link } = links.find(parent);
  const text = `a macvlan of ${parent.name}`;
  if (parent.name === "lo") throw new Refusal(`${text}: it is the loopback link`);
  const master = link.master === undefined ? undefined : links.get({ place: parent.place, name: link.master });
  if (master?.link.kind === "bridge") throw new Refusal(`${text}: it is busy as a port of ${link.master}`);
  if ((mtu ?? 0) > link.mtu) throw new Refusal(`${text}: the MTU ${mtu} exceeds ${link.mtu}, that of the lower link`);
  const others = links.at("pod").filter((each) => each.link.kind === "macvlan" && links.parentOf(each.link) === link);
  if (others.length > 0 && (mode === "passthru" || others.some((each) => each.link.mode === "passthru")))
    throw new Refusal(`${text}: a lower link has one macvlan of mode passthru, and no other beside it`);
}
