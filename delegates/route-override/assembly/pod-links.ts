// The pod's interfaces of a result, and the routes over each of them in the main table.

import { LinkName, Place, routes } from "plexus/abi/links";
import { AttachmentRequest } from "plexus/abi/plugin";
import { Fault, Route, Success } from "plexus/abi/types";

/** The number of the main table; a route without a table is also there. */
const mainTable: u32 = 254;

/** The result's interfaces in the pod; without any, as in results before 0.3.0, the attachment's interface. */
export function podLinks(request: AttachmentRequest, result: Success): Array<LinkName> {
  const found = new Array<LinkName>();
  for (let i = 0; i < result.interfaces.length; i++) {
    const sandbox = result.interfaces[i].sandbox;
    if (sandbox !== null && sandbox != "") found.push(new LinkName(Place.Pod, result.interfaces[i].name));
  }
  if (found.length == 0) found.push(new LinkName(Place.Pod, request.attachment.ifname));
  return found;
}

/** The routes of one link. With a fault, `routes` must not be used. */
@final
export class LinkRoutes {
  private constructor(
    readonly fault: Fault | null,
    readonly routes: Array<Route>,
  ) {}

  /** Reads the routes over the link in the main table. */
  static of(link: LinkName): LinkRoutes {
    const listed = routes(link);
    if (!listed.isOk) return new LinkRoutes(listed.error, []);
    const main = new Array<Route>();
    for (let i = 0; i < listed.value.length; i++) {
      const table = listed.value[i].table;
      if (table === null || table.value == mainTable) main.push(listed.value[i]);
    }
    return new LinkRoutes(null, main);
  }
}
