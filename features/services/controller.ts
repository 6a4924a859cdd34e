// Services on further networks in the controller: `--network-services`.

import type { ControllerFeature } from "../../host/controller/controller-feature.ts";

/** The feature's part. */
export const controller: ControllerFeature = {
  options: { "network-services": { type: "boolean" } },
  usage: `  --network-services    write EndpointSlices for Services that name a further
                        network in the annotation plexus.dev/network: needs the
                        rights of the chart's services.enabled (off)
`,
  metrics: {},
  read: (values) =>
    values["network-services"] === true ? async () => (await import("./controller/part.ts")).servicesPart() : undefined,
};
