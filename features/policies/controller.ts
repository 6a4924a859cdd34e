// Policies in the controller: `--network-policies`.

import type { ControllerFeature } from "../../host/controller/controller-feature.ts";

/** The feature's part. */
export const controller: ControllerFeature = {
  options: { "network-policies": { type: "boolean" } },
  usage: `  --network-policies    write NetworkAddressSlices for the peers of
                        MultiNetworkPolicies: needs the CustomResourceDefinition
                        of the chart's policies.enabled (off)
`,
  metrics: {},
  read: (values) =>
    values["network-policies"] === true ? async () => (await import("./controller/part.ts")).policiesPart() : undefined,
};
