// `find-device`: the device of the node that a selector means, with its facts.

import { fault } from "../../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../../src/fault/result.ts";
import { quote } from "../../../../src/json/quote.ts";
import type {
  LinksDevice,
  LinksDeviceFacts,
  LinksDeviceSelector,
  LinksPlace,
} from "../../../sandbox/abi/generated/delegate-1.1.0.ts";
import { linksRequest } from "../../../system/netlink/link.ts";
import { interruptedText } from "../../../system/netlink/message.ts";
import { type LinkState, linkStatesIn } from "../../../system/netlink/link-state.ts";
import { denied, type LinkScope } from "../link-scope.ts";
import { isGone, maxDumps, type Namespaces, refusalText } from "../namespaces.ts";
import { isGrantedDevice } from "./device-grants.ts";
import { selectorText } from "./selector-text.ts";
import type { Sysfs } from "./sysfs.ts";

/** A device that the grant names. */
export interface FoundDevice {
  /** Undefined: a driver of user space has the device. */
  readonly link: LinkState | undefined;
  readonly facts: LinksDeviceFacts;
}

/** All links of one side; none where the pod's namespace is gone. Fault NETLINK_FAILED. */
export async function linksAt(namespaces: Namespaces, place: LinksPlace): Promise<Result<readonly LinkState[]>> {
  for (let tries = 1; ; tries++) {
    const exchange = await namespaces.exchange(place, [linksRequest]);
    const [answer] = exchange.answers;
    if (place === "pod" && isGone(exchange)) return ok([]);
    if (answer === undefined) return failed(namespaces.unreachable(exchange.errno));
    if (answer.errno !== 0) return failed(fault("NETLINK_FAILED", `links: listing the links: ${refusalText(answer)}`));
    if (!answer.interrupted) return ok(linkStatesIn(answer));
    if (tries === maxDumps) return failed(fault("NETLINK_FAILED", `links: listing the links: ${interruptedText(maxDumps)}`));
  }
}

/** The facts of a link's device; undefined for a virtual link. `links`: all links of the node. */
export function factsOf(sysfs: Sysfs, link: LinkState, links: readonly LinkState[]): LinksDeviceFacts | undefined {
  if (link.parentDevice === undefined) return undefined;
  return sysfs.factsOf(link.parentDevice, link.name, nameOf(links));
}

function nameOf(links: readonly LinkState[]) {
  return ({ bus, name }: { readonly bus: string; readonly name: string }): string | undefined =>
    links.find(({ parentDevice }) => parentDevice?.bus === bus && parentDevice.name === name)?.name;
}

/** The device that the selector means; undefined if the node has none. Fault NOT_GRANTED: the grant does not name it. */
export function selectDevice(
  scope: LinkScope,
  sysfs: Sysfs,
  links: readonly LinkState[],
  selector: LinksDeviceSelector,
  request: string,
): Result<FoundDevice | undefined> {
  const { deviceId, name, mac } = selector;
  const link = links.find((each) => fits(sysfs, each, selector));
  const device = link?.parentDevice ?? (deviceId === undefined ? undefined : sysfs.find(deviceId));
  // A device of a user-space driver has no link, so that it has neither a name nor a MAC.
  if (link === undefined && (device === undefined || name !== undefined || mac !== undefined)) return ok(undefined);
  // The device's link may be in another namespace: only a driver of user space leaves a device without link.
  const facts = device === undefined ? { rdmaDevices: [] } : sysfs.factsOf(device, link?.name, nameOf(links));
  if (!isGrantedDevice(scope.grant.devices ?? [], { link, facts }))
    return failed(
      denied(
        scope,
        "devices",
        `${request}: device ${selectorText(selector)}${link === undefined ? "" : ` (link ${quote(link.name, 40)} of the node)`}`,
      ),
    );
  return ok({ link, facts });
}

/** The device in the form of the WIT interface. */
export function deviceAnswer({ link, facts }: FoundDevice): LinksDevice {
  return { link: link?.name, mac: link === undefined || link.mac === "" ? undefined : link.mac, facts };
}

function fits(sysfs: Sysfs, link: LinkState, { name, mac, deviceId, kernelPath }: LinksDeviceSelector): boolean {
  const { parentDevice } = link;
  return (
    (name === undefined || link.name === name || link.alternativeNames.includes(name)) &&
    (mac === undefined || (link.name !== "lo" && link.mac === mac.toLowerCase())) &&
    (deviceId === undefined || (parentDevice !== undefined && sysfs.hasId(parentDevice, deviceId))) &&
    (kernelPath === undefined || (parentDevice !== undefined && sysfs.isAt(parentDevice, kernelPath)))
  );
}
