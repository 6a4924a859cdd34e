// The finalizer of PodNetworks and their attachments while pods use them.

import type { FinalizerKind } from "../../host/node/finalizers/finalizer-kinds.ts";
import { inUseFinalizer, podNetworkApiVersion } from "./rules/objects.ts";

/** The kinds with it. A PodNetworkAttachment keeps its PodNetwork in use, so attachments come first. */
export const finalizers: readonly FinalizerKind[] = [
  { kind: "PodNetworkAttachment", apiVersion: podNetworkApiVersion, plural: "podnetworkattachments", finalizer: inUseFinalizer },
  { kind: "PodNetwork", apiVersion: podNetworkApiVersion, plural: "podnetworks", finalizer: inUseFinalizer },
];
