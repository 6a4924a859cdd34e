// What is malformed about an operation, whoever may do it.

import { checkInterfaceName } from "../../src/cni/names.ts";
import { readAddress, readCidr } from "../../src/net/ip.ts";
import { macBytes } from "../netlink/address-bytes.ts";
import type { LinksOperation, LinksPortVlan } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import { demandsOf } from "./demands.ts";
import { settingMistake } from "./interface-settings.ts";

const mostVlans = 4094;
const mostAlternativeNames = 16;
const mostAlternativeNameLength = 127;

/** Undefined where it is well formed. */
export function operationMistake(operation: LinksOperation): string | undefined {
  for (const { name } of demandsOf(operation)) {
    const mistake = nameMistake(name);
    if (mistake !== undefined) return mistake;
  }
  return memberMistake(operation);
}

/** The kernel takes `%d` for a number that it chooses: what it makes then has another name. */
export function nameMistake(name: string): string | undefined {
  const checked = checkInterfaceName(name);
  if (!checked.ok) return checked.fault.msg;
  return /^[!-~]+$/u.test(name) && !name.includes("%") ? undefined : "interface name has a % or a character that is not ASCII";
}

function memberMistake(operation: LinksOperation): string | undefined {
  switch (operation.tag) {
    case "ensure-bridge":
      return first(sizeMistake(operation.val.mtu), pvidMistake(operation.val.defaultPvid));
    case "ensure-vlan-gateway":
      return first(vlanMistake(operation.val.id), sizeMistake(operation.val.mtu));
    case "add-veth": {
      const { hostName, mac, hostMac, mtu, vlans } = operation.val;
      const foreign = hostName !== undefined && !hostName.startsWith("veth");
      return first(
        foreign ? `the node's end is called ${JSON.stringify(hostName)}, which does not begin with veth` : undefined,
        macMistake(mac),
        macMistake(hostMac),
        sizeMistake(mtu),
        vlans.length > mostVlans ? `${vlans.length} VLANs` : undefined,
        ...vlans.map(rangeMistake),
      );
    }
    case "add-macvlan":
    case "add-dummy":
    case "add-tap":
      return first(macMistake(operation.val.mac), sizeMistake(operation.val.mtu));
    case "add-ipvlan":
      return sizeMistake(operation.val.mtu);
    case "add-vlan":
      return first(vlanMistake(operation.val.id), sizeMistake(operation.val.mtu));
    case "change-link": {
      const { mac, mtu, alternativeNames: names, link } = operation.val;
      return first(
        macMistake(mac),
        sizeMistake(mtu),
        names.length > mostAlternativeNames ? `${names.length} alternative names` : undefined,
        names.length > 0 && link.place === "host" ? "links of the node get no alternative names" : undefined,
        ...names.map(alternativeNameMistake),
      );
    }
    case "add-port-vlan":
    case "delete-port-vlan":
      return rangeMistake(operation.val.vlan);
    case "add-address":
    case "ensure-address":
    case "delete-address":
      return cidrMistake(operation.val.address);
    case "add-route":
    case "delete-route":
      return routeMistake(operation.val);
    case "add-neighbour":
    case "delete-neighbour":
      return first(addressMistake(operation.val.neighbour.address), macMistake(operation.val.neighbour.mac));
    case "set-interface":
      return settingMistake(operation.val);
    case "add-vrf":
      return operation.val.table === 0 ? "table 0 is none" : undefined;
    case "delete-link":
    case "change-port":
    case "enable-forwarding":
    case "settle":
      return undefined;
    default:
      return operation satisfies never;
  }
}

function routeMistake({ route, source, link, place }: Extract<LinksOperation, { tag: "add-route" }>["val"]): string | undefined {
  const dst = readCidr(route.dst);
  const [gateway, from] = [route.gw, source].map((text) => (text === undefined ? undefined : readAddress(text)));
  const families = first(
    dst !== undefined && gateway !== undefined && dst.address.family === 6 && gateway.family === 4
      ? `an IPv6 route can't go by ${route.gw}`
      : undefined,
    dst !== undefined && from !== undefined && dst.address.family !== from.family ? `${source} is of another family` : undefined,
  );
  return first(
    cidrMistake(route.dst),
    addressMistake(route.gw),
    addressMistake(source),
    families,
    link === undefined && route.gw === undefined ? "a route needs a gateway or a link" : undefined,
    link === undefined && place === "host" ? "a route of the node needs a link" : undefined,
    (route.scope ?? 0) > 255 ? `scope ${route.scope}` : undefined,
  );
}

function first(...mistakes: readonly (string | undefined)[]): string | undefined {
  return mistakes.find((mistake) => mistake !== undefined);
}

function macMistake(mac: string | undefined): string | undefined {
  return mac === undefined || macBytes(mac) !== undefined ? undefined : `${shown(mac)} is no MAC address`;
}

function sizeMistake(mtu: number | undefined): string | undefined {
  return mtu === undefined || mtu <= 0x7fff_ffff ? undefined : `MTU ${mtu}`;
}

function pvidMistake(pvid: number | undefined): string | undefined {
  return pvid === undefined || pvid <= mostVlans ? undefined : `VLAN ${pvid}`;
}

function vlanMistake(id: number): string | undefined {
  return id >= 1 && id <= mostVlans ? undefined : `VLAN ${id}`;
}

function rangeMistake({ first: begin, last }: LinksPortVlan): string | undefined {
  return first(vlanMistake(begin), vlanMistake(last), begin > last ? `VLANs ${begin} to ${last}` : undefined);
}

function cidrMistake(text: string): string | undefined {
  return readCidr(text) === undefined ? `${shown(text)} is no address with a prefix length` : undefined;
}

function addressMistake(text: string | undefined): string | undefined {
  return text === undefined || readAddress(text) !== undefined ? undefined : `${shown(text)} is no IP address`;
}

function alternativeNameMistake(name: string): string | undefined {
  const good = /^[!-$&-.0-9;-~]+$/u.test(name) && name.length <= mostAlternativeNameLength && name !== "." && name !== "..";
  return good ? undefined : `${shown(name)} is no alternative name`;
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}
