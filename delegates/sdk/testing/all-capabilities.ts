// The capabilities of the simulated node.

import { abiVersions, capabilitiesOf } from "../../../host/sandbox/abi/versions.ts";

/** The names of all capabilities, of every ABI version. */
export const allCapabilities: readonly string[] = [...new Set(Object.values(abiVersions).flatMap(capabilitiesOf))];
