// The part for policies: writes the addresses that policies ask for as NetworkAddressSlices.

import type { MakePart } from "../../../host/controller/part.ts";
import { watchingPart } from "../../../host/controller/work/watching-part.ts";
import { PolicyCollections } from "./collections.ts";
import { workOnSlices } from "./slice-work.ts";

/** Maximum queries whose slices are written at the same time. */
const workers = 8;

/** Makes the part. */
export function policiesPart(): MakePart {
  return watchingPart({
    name: "policies",
    workers,
    collections: (context, onDue) => new PolicyCollections(context, onDue),
    work: (context, collections) => (key) => workOnSlices(context, collections, key),
  });
}
