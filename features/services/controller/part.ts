// The part for Services: writes the EndpointSlices of Services on further networks.

import type { MakePart } from "../../../host/controller/part.ts";
import { watchingPart } from "../../../host/controller/work/watching-part.ts";
import { ServiceCollections } from "./collections.ts";
import { workOnService } from "./slice-work.ts";

/** Maximum Services whose slices are written at the same time. */
const workers = 8;

/** Makes the part. */
export function servicesPart(): MakePart {
  return watchingPart({
    name: "services",
    workers,
    collections: (context, onDue) => new ServiceCollections(context, onDue),
    work: (context, collections) => (key) => workOnService(context, collections, key),
  });
}
