// CHECK: the removed routes are gone, and the result's are there.

import { routes } from "plexus/abi/links";
import { AttachmentRequest } from "plexus/abi/plugin";
import { Fault, Route } from "plexus/abi/types";
import { Cidr } from "plexus/cidr";
import { invalidConfig, ownFault } from "plexus/faults";
import { missingRoute } from "plexus/pod-interface-check";
import { LinkRoutes, podLinks } from "./pod-links";
import { Settings } from "./settings";

/** CHECK: the pod's routes differ from the result. */
const DIFFERS: u32 = 100;

/** Answers code 100 with the first difference. */
export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network);
  if (settings.fault !== null || settings.skipCheck) return settings.fault;
  const result = request.prevResult;
  if (result === null) return invalidConfig("prevResult", "Required prevResult missing");
  const links = podLinks(request, result);
  for (let i = 0; i < links.length; i++) {
    const present = LinkRoutes.of(links[i]);
    if (present.fault !== null) return present.fault;
    for (let j = 0; j < settings.delRoutes.length; j++) {
      const dst = settings.delRoutes[j].dst;
      // A route that was added in its place is the result's.
      if (!has(result.routes, dst) && has(present.routes, dst))
        return ownFault(DIFFERS, `route-override: route is not removed: ${dst} over ${links[i].name}`);
    }
  }
  const all = routes(null);
  if (!all.isOk) return all.error;
  const why = missingRoute(result.routes, all.value);
  return why === null ? null : ownFault(DIFFERS, `route-override: ${why}`);
}

function has(among: Array<Route>, destination: string): bool {
  const dst = Cidr.parse(destination);
  for (let i = 0; dst !== null && i < among.length; i++) {
    const each = Cidr.parse(among[i].dst);
    if (each !== null && each.sameNetwork(dst) && each.ip.family == dst.ip.family) return true;
  }
  return false;
}
