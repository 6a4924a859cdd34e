// A port as Neutron's API has it: the body of its creation, and its values.

import { readCidr } from "../../../../src/net/ip.ts";
import { objectsOf, type Body } from "./client.ts";
import type { PortRequest } from "../provider.ts";

/** The values of a subnet that a port needs. */
export interface SubnetValues {
  readonly id: string;
  readonly networkId: string;
  readonly cidr: string;
  readonly gateway: string | undefined;
  readonly routes: readonly Body[];
}

/** The values of a port that come from the provider's settings. */
export interface PortSettings {
  readonly name: string;
  readonly deviceOwner: string | undefined;
  readonly hostId: string | undefined;
  readonly portSecurity: boolean | undefined;
  readonly securityGroups: readonly string[] | undefined;
}

/** The body of a port's creation. */
export function portBody({ pod, requested, key }: PortRequest, subnet: SubnetValues, settings: PortSettings): Body {
  const ips = requested.ips ?? [];
  const fixed =
    ips.length === 0 ? [{ subnet_id: subnet.id }] : ips.map((ip) => ({ subnet_id: subnet.id, ip_address: ip.split("/")[0] }));
  return {
    network_id: subnet.networkId,
    name: settings.name,
    description: `pod ${pod.namespace}/${pod.name} (ExternalPort ${key})`,
    admin_state_up: true,
    fixed_ips: fixed,
    // A subport of a trunk must have no device.
    ...(settings.deviceOwner === undefined ? {} : { device_owner: settings.deviceOwner, device_id: pod.uid }),
    ...(requested.mac === undefined ? {} : { mac_address: requested.mac }),
    ...(settings.hostId === undefined ? {} : { "binding:host_id": settings.hostId }),
    ...(settings.portSecurity === undefined ? {} : { port_security_enabled: settings.portSecurity }),
    ...(settings.securityGroups === undefined ? {} : { security_groups: settings.securityGroups }),
  };
}

/** The values of a port for `readProvidedPort`, without its binding. */
export function portValues(port: Body, subnet: SubnetValues, network: Body): Body {
  const prefix = readCidr(subnet.cidr)?.prefix;
  const gateway = subnet.gateway === undefined ? {} : { gateway: subnet.gateway };
  return {
    providerId: port["id"],
    mac: port["mac_address"],
    addresses: objectsOf(port["fixed_ips"])
      .filter(({ subnet_id: id }) => id === subnet.id)
      .map(({ ip_address: address }) => ({ address: `${String(address)}/${prefix}`, ...gateway })),
    routes: subnet.routes.map(({ destination: dst, nexthop: gw }) => ({ dst, gw })),
    ...(typeof network["mtu"] === "number" ? { mtu: network["mtu"] } : {}),
  };
}
