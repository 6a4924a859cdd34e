// The finalizer of AddressPools while they have blocks.

import type { FinalizerKind } from "../../host/node/finalizers/finalizer-kinds.ts";
import { poolFinalizer } from "./rules/address-pool.ts";
import { poolApiVersion } from "./rules/object-reading.ts";

/** The kind with it. */
export const finalizers: readonly FinalizerKind[] = [
  { kind: "AddressPool", apiVersion: poolApiVersion, plural: "addresspools", finalizer: poolFinalizer },
];
