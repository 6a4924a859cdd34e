// The values of a port that a delegate requests, and their rules.

import { parseHardwareAddress } from "../npwg/hardware-address.ts";
import { isJsonObject } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import { type PortVlans, vlansProblem } from "./port-vlans.ts";

/** The values of a requested port. */
export interface PortRequest extends PortVlans {
  readonly bridge: string;
  readonly link: string;
  /** Empty: none. */
  readonly interfaceId: string;
  readonly mac: string;
  /** The requested OpenFlow port number. */
  readonly number?: number | undefined;
}

/** A bridge is a link, too, so both have the kernel's bound of 15 bytes. */
const linkPattern = /^(?!\.{1,2}$)[!-.0-9;-~]{1,15}$/;
const interfaceIdPattern = /^[!-~]{0,255}$/;
/** OpenFlow 1.0 reserves the numbers above, and 0 (ovs-vswitchd.conf.db(5), `ofport_request`). */
const maxNumber = 65_279;

/** Whether the text can be the name of a link. */
export function isLinkName(text: string): boolean {
  return linkPattern.test(text);
}

/** Why the request is invalid, as a sentence without its end; undefined if it is valid. */
export function requestProblem(request: PortRequest): string | undefined {
  const { bridge, link, interfaceId, mac, number } = request;
  if (!isLinkName(bridge)) return `bridge ${quote(bridge, 40)} is not the name of a link`;
  if (!isLinkName(link)) return `link ${quote(link, 40)} is not the name of a link`;
  if (!interfaceIdPattern.test(interfaceId)) {
    return `interface ID ${quote(interfaceId, 60)} is not ASCII characters without a space, at most 255`;
  }
  if (number !== undefined && (number < 1 || number > maxNumber)) return `number ${number} is not 1 to ${maxNumber}`;
  if (parseHardwareAddress(mac)?.length !== 6) return `${quote(mac, 40)} is not a MAC address of 6 bytes`;
  return vlansProblem(request);
}

/** The MAC address as Plexus writes it: colons and lower-case digits. The request is valid. */
export function normalMac(mac: string): string {
  return (parseHardwareAddress(mac)?.text ?? mac).toLowerCase();
}

/** The interface ID of the fabric's port in a plugin's `runtimeConfig`; undefined if there is none. `configuration`: the plugin's parsed object. */
export function providedInterfaceId(configuration: unknown): string | undefined {
  const binding = ["runtimeConfig", "externalPort", "binding"].reduce<unknown>(
    (value, key) => (isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    configuration,
  );
  const id = isJsonObject(binding) && Object.hasOwn(binding, "interfaceId") ? binding["interfaceId"] : undefined;
  return typeof id === "string" ? id : undefined;
}
