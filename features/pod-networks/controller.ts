// PodNetworks in the controller: `--pod-networks`.

import type { ControllerFeature } from "../../host/controller/controller-feature.ts";

/** The feature's part. */
export const controller: ControllerFeature = {
  options: {
    "pod-networks": { type: "boolean" },
    "pod-network-claims": { type: "boolean" },
    "disable-default-podnetwork-creation": { type: "boolean" },
  },
  usage: `  --pod-networks        serve PodNetworks: needs the CustomResourceDefinitions of
                        the chart's networks.enabled (off)
  --pod-network-claims  keep PodNetworks that resource claims use, too: needs the
                        right to list and watch resourceclaims (off)
  --disable-default-podnetwork-creation
                        do not create the PodNetwork "default"
`,
  metrics: {},
  read: (values) => {
    if (values["pod-networks"] !== true) return undefined;
    const createDefault = values["disable-default-podnetwork-creation"] !== true;
    const withClaims = values["pod-network-claims"] === true;
    return async () => (await import("./controller/part.ts")).podNetworksPart(createDefault, withClaims);
  },
};
