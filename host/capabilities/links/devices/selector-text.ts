// A device's selector as messages name it.

import { quote } from "../../../../src/json/quote.ts";
import type { LinksDeviceSelector } from "../../../sandbox/abi/generated/delegate-1.1.0.ts";

/** The selector's members for messages: `name eth1, MAC 02:00:00:00:00:01`. */
export function selectorText({ name, mac, deviceId, kernelPath }: LinksDeviceSelector): string {
  const parts = [
    name === undefined ? [] : [`name ${quote(name, 40)}`],
    mac === undefined ? [] : [`MAC ${quote(mac, 40)}`],
    deviceId === undefined ? [] : [`ID ${quote(deviceId, 80)}`],
    kernelPath === undefined ? [] : [`path ${quote(kernelPath, 200)}`],
  ];
  return parts.flat().join(", ");
}
