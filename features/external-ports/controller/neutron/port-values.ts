// A port as Neutron's API has it: the body of its creation, and its values.

import { readAddress, readCidr } from "../../../../src/net/ip.ts";
import { sameHardwareAddress } from "../../../../src/npwg/hardware-address.ts";
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
export function portBody(request: PortRequest, subnet: SubnetValues, settings: PortSettings): Body {
  const { requested } = request;
  const ips = requested.ips ?? [];
  const fixed =
    ips.length === 0 ? [{ subnet_id: subnet.id }] : ips.map((ip) => ({ subnet_id: subnet.id, ip_address: addressOf(ip) }));
  return {
    network_id: subnet.networkId,
    admin_state_up: true,
    fixed_ips: fixed,
    ...podValues(request, settings),
    ...(requested.mac === undefined ? {} : { mac_address: requested.mac }),
    ...(settings.portSecurity === undefined ? {} : { port_security_enabled: settings.portSecurity }),
    ...(settings.securityGroups === undefined ? {} : { security_groups: settings.securityGroups }),
  };
}

/** Neutron refuses a longer description, and so the port. */
const maxDescription = 255;

/** The values that make a port a pod's: of a port's creation, and of the change of a free one. */
export function podValues({ pod, key }: PortRequest, { name, deviceOwner, hostId }: PortSettings): Body {
  return {
    name,
    description: `pod ${pod.namespace}/${pod.name} (ExternalPort ${key})`.slice(0, maxDescription),
    // A subport of a trunk must have no device.
    ...(deviceOwner === undefined ? {} : { device_owner: deviceOwner, device_id: pod.uid }),
    ...(hostId === undefined ? {} : { "binding:host_id": hostId }),
  };
}

/** A requested address without its prefix length. */
export function addressOf(ip: string): string {
  return ip.replace(/\/.*$/, "");
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
      .map(({ ip_address: address }) => ({
        address: typeof address === "string" ? `${address}/${prefix}` : undefined,
        ...gateway,
      })),
    routes: subnet.routes.map(({ destination: dst, nexthop: gw }) => ({ dst, gw })),
    ...(typeof network["mtu"] === "number" ? { mtu: network["mtu"] } : {}),
  };
}

/** Whether a port is in the subnet and has the requested values. A value that Neutron's answer lacks says nothing against the port. */
export function isPortOf(port: Body, subnet: SubnetValues, requested: PortRequest["requested"]): boolean {
  const { network_id: network = subnet.networkId, mac_address: mac, fixed_ips: fixed } = port;
  if (network !== subnet.networkId) return false;
  if (requested.mac !== undefined && typeof mac === "string" && !sameHardwareAddress(requested.mac, mac)) return false;
  const addresses = objectsOf(fixed);
  if (addresses.length === 0) return true;
  const inSubnet = addresses.filter(({ subnet_id: id = subnet.id }) => id === subnet.id);
  return (
    inSubnet.length > 0 &&
    (requested.ips ?? []).every((ip) => inSubnet.some((each) => isSameAddress(addressOf(ip), each["ip_address"])))
  );
}

function isSameAddress(requested: string, assigned: unknown): boolean {
  const [wanted, has] = [readAddress(requested), typeof assigned === "string" ? readAddress(assigned) : undefined];
  return has === undefined || (has.family === wanted?.family && has.value === wanted.value);
}
