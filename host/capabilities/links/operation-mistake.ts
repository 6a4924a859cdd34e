// Checks that operations are well formed, independently of grants. No I/O.

import { checkInterfaceName } from "../../../src/cni/attachment.ts";
import { formatCidr, networkOf, readAddress, readCidr } from "../../../src/net/ip.ts";
import type {
  LinksDeviceSelector,
  LinksOperation,
  LinksPortVlan,
  LinksVfSettings,
} from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { macBytes } from "../../system/netlink/bytes.ts";
import { settingMistake } from "./interface-settings.ts";
import { linkUsesOf } from "./link-uses.ts";

const maxVlans = 4094;
/** The priority of a VLAN tag has three bits. */
const maxQos = 7;
const maxMtu = 0x7fff_ffff;
const maxAlternativeNames = 16;
const maxAlternativeNameLength = 127;
const selinuxContextPattern = /^[!-.0-~]{1,255}$/u;

/** The reason why the operation is malformed; undefined where it is well formed. */
export function operationMistake(operation: LinksOperation): string | undefined {
  for (const { place, name, use } of linkUsesOf(operation)) {
    // `ensure` may make the link, and a link's own name is short.
    const mistake = nameMistake(name, place === "host" && use !== "make" && use !== "ensure");
    if (mistake !== undefined) return mistake;
  }
  return memberMistake(operation);
}

/**
 * The reason why the name cannot be an interface's; undefined where it can. Only printable ASCII is accepted. `mayBeAlternative`: it may be the
 * alternative name of an existing link, which may be longer.
 */
export function nameMistake(name: string, mayBeAlternative: boolean): string | undefined {
  if (mayBeAlternative && alternativeNameMistake(name) === undefined) return undefined;
  const checked = checkInterfaceName(name);
  if (!checked.ok) return checked.fault.msg;
  return /^[!-~]+$/u.test(name) ? undefined : "interface name contains a character that is not printable ASCII";
}

function memberMistake(operation: LinksOperation): string | undefined {
  switch (operation.tag) {
    case "ensure-bridge":
      return first(sizeMistake(operation.val.mtu), pvidMistake(operation.val.defaultPvid));
    case "ensure-vlan-gateway":
      return first(vlanMistake(operation.val.id), sizeMistake(operation.val.mtu));
    case "add-veth":
      return vethMistake(operation.val);
    case "add-tap": {
      const { mac, mtu, selinuxContext } = operation.val;
      return first(macMistake(mac), sizeMistake(mtu), contextMistake(selinuxContext));
    }
    case "add-macvlan":
    case "add-dummy":
      return first(macMistake(operation.val.mac), sizeMistake(operation.val.mtu));
    case "add-ipvlan":
      return sizeMistake(operation.val.mtu);
    case "add-vlan":
      return first(vlanLinkMistake(operation.val.id), sizeMistake(operation.val.mtu));
    case "change-link":
      return changeMistake(operation.val);
    case "add-port-vlan":
    case "delete-port-vlan":
      return rangeMistake(operation.val.vlan);
    case "add-address":
    case "ensure-address":
    case "delete-address":
      return cidrMistake(operation.val.address);
    case "add-route":
      return first(routeMistake(operation.val), hostBitsMistake(operation.val.route.dst));
    case "delete-route":
      return routeMistake(operation.val);
    case "add-neighbour":
    case "delete-neighbour":
      return first(addressMistake(operation.val.neighbour.address), macMistake(operation.val.neighbour.mac));
    case "set-interface":
      return settingMistake(operation.val);
    case "add-vrf":
      return operation.val.table === 0 ? "table 0 is not a routing table" : undefined;
    case "take-device":
      return selectorMistake(operation.val.device);
    case "add-bond":
      return bondMistake(operation.val);
    case "set-vf":
      return vfMistake(operation.val);
    case "delete-link":
    case "give-back":
    case "change-port":
    case "enable-forwarding":
    case "settle":
      return undefined;
    default:
      return operation satisfies never;
  }
}

/** The members of the operation with this tag. */
type Members<Tag extends LinksOperation["tag"]> = Extract<LinksOperation, { tag: Tag }>["val"];

function vethMistake({ hostName, mac, hostMac, mtu, vlans }: Members<"add-veth">): string | undefined {
  const hasOtherPrefix = hostName !== undefined && !hostName.startsWith("veth");
  return first(
    hasOtherPrefix ? `the name ${JSON.stringify(hostName)} of the node's end does not begin with veth` : undefined,
    macMistake(mac),
    macMistake(hostMac),
    sizeMistake(mtu),
    vlans.length > maxVlans ? `${vlans.length} VLAN ranges exceed the maximum of ${maxVlans}` : undefined,
    ...vlans.map(rangeMistake),
  );
}

function changeMistake({ mac, mtu, alternativeNames: names, link }: Members<"change-link">): string | undefined {
  const hasTooMany = names.length > maxAlternativeNames;
  return first(
    macMistake(mac),
    sizeMistake(mtu),
    hasTooMany ? `${names.length} alternative names exceed the maximum of ${maxAlternativeNames}` : undefined,
    names.length > 0 && link.place === "host" ? "a link of the node cannot get alternative names" : undefined,
    ...names.map(alternativeNameMistake),
  );
}

function bondMistake({ mac, mtu, failOverMac }: Members<"add-bond">): string | undefined {
  const badFailOver = failOverMac !== undefined && failOverMac > 2;
  return first(
    macMistake(mac),
    sizeMistake(mtu),
    badFailOver ? `fail-over-mac ${failOverMac} exceeds the maximum of 2` : undefined,
  );
}

/** The reason why a selector of a device is malformed; undefined where it is well formed. */
export function selectorMistake({ name, mac, deviceId, kernelPath }: LinksDeviceSelector): string | undefined {
  const isEmpty = [name, mac, deviceId, kernelPath].every((member) => member === undefined);
  const badId = deviceId !== undefined && !/^(?!\.{1,2}$)[\w.:-]{1,64}$/u.test(deviceId);
  const badPath = kernelPath !== undefined && (!kernelPath.startsWith("/sys/devices/") || kernelPath.split("/").includes(".."));
  return first(
    isEmpty ? "the device has no name, MAC, ID or path" : undefined,
    name === undefined ? undefined : nameMistake(name, true),
    macMistake(mac),
    badId ? `${JSON.stringify(deviceId)} is neither a PCI address nor a name on the auxiliary bus` : undefined,
    badPath ? `the path ${JSON.stringify(kernelPath)} is not below /sys/devices/` : undefined,
  );
}

/** The rules of sriov-cni's configuration, beside those of the kernel. */
function vfMistake({ pciAddress, mac, vlan, vlanQos, vlanServiceTag, minRate, maxRate }: LinksVfSettings): string | undefined {
  return first(
    /^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$/u.test(pciAddress) ? undefined : `${shown(pciAddress)} is not a PCI address`,
    macMistake(mac),
    vlan !== undefined && vlan > maxVlans ? `VLAN ${vlan} exceeds the maximum of ${maxVlans}` : undefined,
    (vlanQos ?? 0) > maxQos ? `the VLAN priority ${vlanQos} exceeds the maximum of ${maxQos}` : undefined,
    (vlan ?? 0) === 0 && (vlanServiceTag || (vlanQos ?? 0) > 0) ? "a priority and 802.1ad need a VLAN" : undefined,
    maxRate !== undefined && maxRate !== 0 && (minRate ?? 0) > maxRate
      ? `the minimum rate ${minRate} exceeds the maximum rate ${maxRate}`
      : undefined,
  );
}

function routeMistake({ route, source, link, place }: Members<"add-route">): string | undefined {
  const dst = readCidr(route.dst);
  const [gateway, from] = [route.gw, source].map((text) => (text === undefined ? undefined : readAddress(text)));
  const families = first(
    dst !== undefined && gateway !== undefined && dst.address.family === 6 && gateway.family === 4
      ? `an IPv6 route cannot have the IPv4 gateway ${route.gw}`
      : undefined,
    dst !== undefined && from !== undefined && dst.address.family !== from.family
      ? `the source ${source} and the destination ${route.dst} are of different address families`
      : undefined,
  );
  return first(
    cidrMistake(route.dst),
    addressMistake(route.gw),
    addressMistake(source),
    families,
    link === undefined && route.gw === undefined ? "a route needs a gateway or a link" : undefined,
    link === undefined && place === "host" ? "a route of the node needs a link" : undefined,
    (route.scope ?? 0) > 255 ? `scope ${route.scope} exceeds the maximum of 255` : undefined,
  );
}

/** The kernel refuses an IPv4 route with host bits, and so every native plugin; it clears those of IPv6. */
function hostBitsMistake(dst: string): string | undefined {
  const cidr = readCidr(dst);
  if (cidr?.address.family !== 4) return undefined;
  const network = networkOf(cidr).first;
  if (network.value === cidr.address.value) return undefined;
  return `the route's destination ${formatCidr(cidr)} has host bits set: the network is ${formatCidr({ ...cidr, address: network })}`;
}

/** The first mistake of several. */
function first(...mistakes: readonly (string | undefined)[]): string | undefined {
  return mistakes.find((mistake) => mistake !== undefined);
}

function macMistake(mac: string | undefined): string | undefined {
  return mac === undefined || macBytes(mac) !== undefined ? undefined : `${shown(mac)} is not a MAC address`;
}

function contextMistake(context: string | undefined): string | undefined {
  return context === undefined || selinuxContextPattern.test(context) ? undefined : `${shown(context)} is not an SELinux context`;
}

function sizeMistake(mtu: number | undefined): string | undefined {
  return mtu === undefined || mtu <= maxMtu ? undefined : `MTU ${mtu} exceeds the maximum of ${maxMtu}`;
}

function pvidMistake(pvid: number | undefined): string | undefined {
  return pvid === undefined || pvid <= maxVlans ? undefined : `the default VLAN ${pvid} exceeds the maximum of ${maxVlans}`;
}

function vlanMistake(id: number): string | undefined {
  return id >= 1 && id <= maxVlans ? undefined : `VLAN ${id} is not in the range 1 to ${maxVlans}`;
}

/** A link of VLAN 0 sends and receives frames with a priority tag only (IEEE 802.1Q). */
function vlanLinkMistake(id: number): string | undefined {
  return id === 0 ? undefined : vlanMistake(id);
}

function rangeMistake({ first: begin, last }: LinksPortVlan): string | undefined {
  return first(
    vlanMistake(begin),
    vlanMistake(last),
    begin > last ? `the VLAN range ${begin} to ${last} ends before it begins` : undefined,
  );
}

function cidrMistake(text: string): string | undefined {
  return readCidr(text) === undefined ? `${shown(text)} is not an IP address with a prefix length` : undefined;
}

function addressMistake(text: string | undefined): string | undefined {
  return text === undefined || readAddress(text) !== undefined ? undefined : `${shown(text)} is not an IP address`;
}

function alternativeNameMistake(name: string): string | undefined {
  const isValid = /^[!-$&-.0-9;-~]+$/u.test(name) && name.length <= maxAlternativeNameLength && name !== "." && name !== "..";
  return isValid ? undefined : `${shown(name)} is not an alternative name`;
}

/** The beginning of a text, quoted. */
function shown(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}
