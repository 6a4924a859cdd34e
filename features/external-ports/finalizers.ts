// The finalizer of ExternalPorts: without it the fabric's port would stay.

import type { FinalizerKind } from "../../host/node/finalizers/finalizer-kinds.ts";
import { externalPortApiVersion, externalPortFinalizer, readExternalPort } from "./rules/external-port.ts";

/** ExternalPort, for `plexusctl finalizers release`. */
export const finalizers: readonly FinalizerKind[] = [
  {
    kind: "ExternalPort",
    apiVersion: externalPortApiVersion,
    plural: "externalports",
    finalizer: externalPortFinalizer,
    outside: (object) => {
      const read = readExternalPort(object);
      return read.ok && read.value.port !== undefined ? `${read.value.spec.provider} ${read.value.port.providerId}` : "";
    },
  },
];
