// Compares an attachment's shape with the kernel's state, and reads its counters.

import { ok, type Result } from "../../../src/fault/result.ts";
import type { ShapingTraffic } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { LinkState } from "../../system/netlink/link-state.ts";
import { classesRequest, filtersRequest, INGRESS_HANDLE, type Listed, ROOT } from "../../system/netlink/traffic-control.ts";
import { ROOT_HANDLE } from "../../system/netlink/token-bucket.ts";
import { redirectionIn } from "../../system/netlink/u32-filter.ts";
import type { Owner } from "../firewall/owner.ts";
import { readDevices } from "./devices.ts";
import { listQdiscs, listTraffic, type ShapingShim } from "./kernel.ts";
import type { Shape } from "./requests.ts";
import { boundDifference, type BoundLink, isShapes, type LinkTraffic } from "./shape.ts";

/** The first difference of the kernel's state from the shape; undefined without one. Fault: NETLINK_FAILED. */
export async function difference(
  shim: ShapingShim,
  owner: Owner,
  link: LinkState,
  shape: Shape,
): Promise<Result<string | undefined>> {
  const [devices, qdiscs] = [await readDevices(shim, owner), await listQdiscs(shim)];
  if (!devices.ok) return devices;
  if (!qdiscs.ok) return qdiscs;
  const [device] = devices.value.own;
  const { ingress, egress } = shape;
  if (ingress === undefined && qdiscs.value.some((each) => each.link === link.index && isShapes(each)))
    return ok(`${link.name} has a token bucket, and traffic towards the pod has no bound`);
  if (egress === undefined && device !== undefined)
    return ok(`there is the device ${device.name}, and traffic from the pod has no bound`);
  if (ingress !== undefined) {
    const found = await trafficOf(shim, link, qdiscs.value, shape);
    if (!found.ok) return found;
    const why = boundDifference(link, "ingress", ingress, shape, found.value);
    if (why !== undefined) return ok(why);
  }
  if (egress === undefined) return ok(undefined);
  if (device === undefined) return ok("there is no device for traffic from the pod");
  const found = await trafficOf(shim, device, qdiscs.value, shape);
  if (!found.ok) return found;
  const why = boundDifference(device, "egress", egress, shape, found.value);
  if (why !== undefined) return ok(why);
  const filters = await listTraffic(shim, {
    request: filtersRequest(link.index, INGRESS_HANDLE),
    action: `listing the filters of ${link.name}`,
  });
  if (!filters.ok) return filters;
  const leads = filters.value.some(({ options }) => redirectionIn(options) === device.index);
  return ok(leads ? undefined : `the packets of ${link.name} are not led to ${device.name}`);
}

async function trafficOf(
  shim: ShapingShim,
  { index, name }: BoundLink,
  qdiscs: readonly Listed[],
  { bounded }: Shape,
): Promise<Result<LinkTraffic>> {
  const qdisc = qdiscs.find(({ link, parent }) => link === index && parent === ROOT);
  if (bounded === "all" || qdisc?.kind !== "htb") return ok({ qdisc, classes: [], filters: [] });
  const classes = await listTraffic(shim, { request: classesRequest(index), action: `listing the classes of ${name}` });
  if (!classes.ok) return classes;
  const filters = await listTraffic(shim, {
    request: filtersRequest(index, ROOT_HANDLE),
    action: `listing the filters of ${name}`,
  });
  if (!filters.ok) return filters;
  return ok({ qdisc, classes: classes.value, filters: filters.value });
}

/** The counters of both directions. Fault: NETLINK_FAILED. */
export async function traffic(shim: ShapingShim, owner: Owner, link: LinkState | undefined): Promise<Result<ShapingTraffic>> {
  const [devices, qdiscs] = [await readDevices(shim, owner), await listQdiscs(shim)];
  if (!devices.ok) return devices;
  if (!qdiscs.ok) return qdiscs;
  const countersAt = (index: number | undefined) => qdiscs.value.find((each) => each.link === index && isShapes(each))?.counters;
  return ok({ ingress: countersAt(link?.index), egress: countersAt(devices.value.own[0]?.index) });
}
