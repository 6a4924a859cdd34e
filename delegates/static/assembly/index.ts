// Addresses from the configuration or from the runtime. Nothing is kept. README.md has the configuration.

import { AttachmentRequest, GcRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Fault, IpConfig, StatusRequest, Success } from "plexus/abi/types";
import { Cidr } from "plexus/cidr";
import { invalidConfig, ownFault } from "plexus/faults";
import { Ip } from "plexus/ip";
import { Settings } from "./settings";

/** CHECK: an address of the result has another gateway. */
const DIFFERS: u32 = 100;

export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network, request.attachment.args);
  if (settings.fault !== null) return SuccessOrFault.err(settings.fault as Fault);
  const success = new Success();
  for (let i = 0; i < settings.addresses.length; i++) {
    const each = settings.addresses[i];
    const ip = new IpConfig(each.cidr.toString());
    const gateway = each.gateway;
    if (gateway !== null) ip.gateway = gateway.toString();
    success.ips.push(ip);
  }
  success.routes = settings.routes;
  success.dns = settings.dns;
  return SuccessOrFault.ok(success);
}

/** Nothing was reserved. */
export function del(_request: AttachmentRequest): Fault | null {
  return null;
}

/** Like the reference plugin: the result's addresses that are configured have the configured gateways. */
export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network, request.attachment.args);
  if (settings.fault !== null) return settings.fault;
  const result = request.prevResult;
  if (result === null) return invalidConfig("prevResult", "Required prevResult missing");
  for (let i = 0; i < settings.addresses.length; i++) {
    const configured = settings.addresses[i];
    const gateway = configured.gateway;
    if (gateway === null) continue;
    const present = ipOf(result, configured.cidr.ip);
    if (present === null) continue;
    const current: Ip | null = present.gateway === null ? null : Ip.parse(present.gateway as string);
    if (current === null || !current.equals(gateway))
      return ownFault(
        DIFFERS,
        `${present.address} of the result has ${current === null ? "no gateway" : `the gateway ${current.toString()}`}, the configuration has ${gateway.toString()}`,
      );
  }
  return null;
}

export function gc(_request: GcRequest): Fault | null {
  return null;
}

/** Ready if the configuration is valid. */
export function status(request: StatusRequest): Fault | null {
  return Settings.read(request.network, []).fault;
}

/** The result's entry of an address; null if it has none. */
function ipOf(result: Success, ip: Ip): IpConfig | null {
  for (let i = 0; i < result.ips.length; i++) {
    const cidr = Cidr.parse(result.ips[i].address);
    if (cidr !== null && cidr.ip.equals(ip)) return result.ips[i];
  }
  return null;
}
