// A pod's ports in the form of Kuryr-Kubernetes, for programs that read its annotation or its KuryrPorts: objects of os-vif (library of OpenStack),
// as oslo.versionedobjects writes them in JSON.

import { formatAddress, formatCidr, networkOf, readCidr } from "../../../src/net/ip.ts";
import type { PortAddress, ProvidedPort } from "./provided-port.ts";

/** The annotation of a pod: interfaces and their vifs, a JSON object as text. */
export const kuryrVifAnnotation = "openstack.org/kuryr-vif";
/** The label of a KuryrPort with its pod's node. */
export const kuryrNodeLabel = "kuryr.openstack.org/nodeName";

/** One interface of a pod. */
export interface KuryrInterface {
  readonly name: string;
  readonly port: ProvidedPort;
  /** Whether the fabric forwards packets of the port. */
  readonly isActive: boolean;
}

/** An object of oslo.versionedobjects, serialized. */
type Versioned = Readonly<Record<string, unknown>>;

/** Characters of a port's ID in the name of its link, as OpenStack names links. */
const idInLink = 11;

/** The vifs by interface, in the order of the names. `bridge`: the Open vSwitch bridge of the nodes. */
export function kuryrVifs(interfaces: readonly KuryrInterface[], bridge: string): Readonly<Record<string, Versioned>> {
  const ordered = interfaces.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return Object.fromEntries(ordered.map((each) => [each.name, vif(each, bridge)]));
}

function vif({ port, isActive }: KuryrInterface, bridge: string): Versioned {
  const { providerId, mac, binding } = port;
  const values = {
    id: providerId,
    address: mac,
    network: network(port, binding.type === "ovs" ? bridge : undefined),
    active: isActive,
    has_traffic_filtering: false,
    preserve_on_delete: false,
    vif_name: `tap${providerId.slice(0, idInLink)}`,
  };
  if (binding.type === "vlan") return versioned("VIFVlanNested", { ...values, plugin: "noop", vlan_id: binding.vlan });
  if (binding.type === "address-only") return versioned("VIFMacvlanNested", { ...values, plugin: "noop" });
  const profile = versioned("VIFPortProfileOpenVSwitch", { interface_id: binding.interfaceId }, "1.3");
  return versioned("VIFOpenVSwitch", { ...values, plugin: "ovs", bridge_name: bridge, port_profile: profile });
}

function network({ addresses, routes, mtu }: ProvidedPort, bridge: string | undefined): Versioned {
  const values = {
    ...(bridge === undefined ? {} : { bridge }),
    ...(mtu === undefined ? {} : { mtu }),
    multi_host: false,
    should_provide_bridge: false,
    should_provide_vlan: false,
    subnets: list("SubnetList", subnetsOf(addresses, routes)),
  };
  return versioned("Network", values, "1.1");
}

/** One subnet for the addresses of one network; a route stands in the first subnet of its family. */
function subnetsOf(addresses: readonly PortAddress[], routes: ProvidedPort["routes"]): readonly Versioned[] {
  const subnets = new Map<string, { readonly family: number; readonly gateway: string | undefined; readonly ips: string[] }>();
  for (const { address, gateway } of addresses) {
    const cidr = readCidr(address);
    if (cidr === undefined) continue;
    const key = formatCidr({ ...cidr, address: networkOf(cidr).first });
    const subnet = subnets.get(key) ?? { family: familyOf(address), gateway, ips: [] };
    subnet.ips.push(formatAddress(cidr.address));
    subnets.set(key, subnet);
  }
  const routed = new Set<number>();
  return [...subnets].map(([cidr, { family, gateway, ips }]) => {
    const own = routed.has(family) ? [] : routes.filter(({ dst, gw }) => gw !== undefined && familyOf(dst) === family);
    routed.add(family);
    return versioned("Subnet", {
      cidr,
      dns: [],
      ...(gateway === undefined ? {} : { gateway }),
      ips: list(
        "FixedIPList",
        ips.map((address) => versioned("FixedIP", { address })),
      ),
      routes: list(
        "RouteList",
        own.map(({ dst, gw }) => versioned("Route", { cidr: dst, gateway: gw })),
      ),
    });
  });
}

function familyOf(text: string): number {
  return text.includes(":") ? 6 : 4;
}

function list(name: string, objects: readonly Versioned[]): Versioned {
  return versioned(name, { objects });
}

/** Kuryr's own classes have the namespace of os-vif, too. */
function versioned(name: string, data: Versioned, version = "1.0"): Versioned {
  return {
    "versioned_object.name": name,
    "versioned_object.namespace": "os_vif",
    "versioned_object.version": version,
    "versioned_object.data": data,
  };
}
