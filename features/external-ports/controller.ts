// External ports in the controller: `--external-ports FILE`.

import type { ControllerFeature } from "../../host/controller/controller-feature.ts";
import { pathOf } from "../../host/node/command-line/option-values.ts";
import { portMetrics } from "./metrics.ts";

const option = "external-ports";

/** The feature's part. */
export const controller: ControllerFeature = {
  options: { [option]: { type: "string" } },
  usage: `  --external-ports FILE make ports in outer fabrics, with the providers of this
                        file (none)
`,
  metrics: portMetrics,
  read: ({ [option]: text }) => {
    if (typeof text !== "string") return undefined;
    const file = pathOf(option, text, 4095);
    return async () => {
      // Loaded where it is switched on: zod and yaml take memory.
      const { externalPortsPart } = await import("./controller/part.ts");
      const { readProviders } = await import("./controller/provider-settings.ts");
      try {
        return externalPortsPart(await readProviders(file));
      } catch (error) {
        throw new Error(`--${option}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
      }
    };
  },
};
