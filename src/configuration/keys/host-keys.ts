// All keys of Plexus' configuration. A further part adds its table here.

import { defaultNetworkKeys, defaultNetworkSchema } from "./default-network-keys.ts";
import type { ValuesOf } from "../table/key.ts";
import type { JsonSchema } from "../table/kind.ts";
import { tableSchema } from "../table/table-schema.ts";
import { callKeys, listFlagKeys, runtimeKeys, specificationPrefix } from "./call-keys.ts";
import { compatibilityKeys, idleKeys } from "./compatibility-keys.ts";
import { featureKeys } from "./feature-keys.ts";
import { logKeys } from "./log-keys.ts";
import { placeKeys } from "./place-keys.ts";
import { policyKeys } from "./policy-keys.ts";
import { timeKeys } from "./time-keys.ts";

/** The keys with an effect. */
const hostKeys = {
  ...callKeys,
  ...defaultNetworkKeys,
  ...featureKeys,
  ...placeKeys,
  ...timeKeys,
  ...logKeys,
  ...policyKeys,
  ...listFlagKeys,
  ...compatibilityKeys,
  ...runtimeKeys,
};

/** The values of the keys, with defaults. */
export type HostValues = ValuesOf<typeof hostKeys>;

/** Every key. */
export const allKeys: typeof hostKeys = { ...hostKeys, ...idleKeys };

/** The JSON Schema of Plexus' configuration. */
export function hostSchema(): JsonSchema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    ...tableSchema(allKeys),
    patternProperties: { [`^${specificationPrefix.replace(".", "\\.")}`]: {} },
    ...defaultNetworkSchema,
  };
}
