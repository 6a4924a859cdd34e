// Binds the capability `links` to one call.

import type { LinksCapability, LinksDevice, LinksDeviceSelector } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { type Deferred, witOutcome } from "../outcome.ts";
import { apply, type LinkShim } from "./apply.ts";
import { selectorText } from "./devices/selector-text.ts";
import { LinkAliases } from "./link-aliases.ts";
import { denied, type LinkScope, misused } from "./link-scope.ts";
import { Namespaces } from "./namespaces.ts";
import { selectorMistake } from "./operation-mistake.ts";
import { defaultLink, neighbours, read, routes, vrfs } from "./read.ts";

/** The WIT interface `links`; its functions answer when the shim has. */
export type Links = Deferred<LinksCapability>;

/** The capability for the delegate of one call. `clock`: monotonic milliseconds. */
export function linksFor(granted: LinkScope, shim: LinkShim, clock: () => number): Links {
  const scope = { ...granted, aliases: new LinkAliases(), readLinks: new Map() };
  return {
    apply: async (operations) => witOutcome(await apply(scope, shim, clock, operations)),
    read: async (names) => witOutcome(await read(scope, shim, names)),
    routes: async (link) => witOutcome(await routes(scope, shim, link)),
    vrfs: async () => witOutcome(await vrfs(scope, shim)),
    defaultLink: async (place) => witOutcome(await defaultLink(scope, shim, place)),
    findDevice: async (selector) => witOutcome(await findDevice(scope, shim, selector)),
    retainDevices: async (valid) => {
      const { retainDevices } = await import("./devices/retain-devices.ts");
      return witOutcome(await retainDevices(scope, shim, valid));
    },
    neighbours: async (link) => witOutcome(await neighbours(scope, shim, link)),
  };
}

/** The granted device that the selector means. Faults: CAPABILITY_MISUSED, NOT_GRANTED, NETLINK_FAILED. */
async function findDevice(
  scope: LinkScope,
  shim: LinkShim,
  selector: LinksDeviceSelector,
): Promise<Result<LinksDevice | undefined>> {
  const mistake = selectorMistake(selector);
  if (mistake !== undefined) return failed(misused(`find-device: ${mistake}`));
  if ((scope.grant.devices ?? []).length === 0)
    return failed(denied(scope, "devices", `find-device: the device of the node with ${selectorText(selector)}`));
  if (scope.devices === undefined) return ok(undefined);
  const { deviceAnswer, linksAt, selectDevice } = await import("./devices/find-device.ts");
  const links = await linksAt(new Namespaces(shim, scope.attachment?.netns ?? ""), "host");
  if (!links.ok) return links;
  const found = selectDevice(scope, scope.devices.sysfs, links.value, selector, "find-device");
  return found.ok ? ok(found.value && deviceAnswer(found.value)) : found;
}
