// Address pools in the controller: `--address-pools`.

import type { ControllerFeature } from "../../host/controller/controller-feature.ts";
import { poolMetrics } from "./metrics.ts";

/** The feature's part. */
export const controller: ControllerFeature = {
  options: { "address-pools": { type: "boolean" } },
  usage: `  --address-pools       serve AddressPools: needs the CustomResourceDefinitions of
                        the chart's pools.enabled (off)
`,
  metrics: poolMetrics,
  read: (values) =>
    values["address-pools"] === true ? async () => (await import("./controller/part.ts")).poolsPart() : undefined,
};
