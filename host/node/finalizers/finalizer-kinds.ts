// Plexus' finalizers, each with its kind of object.

import { poolFinalizer } from "../../../src/address-pool/address-pool.ts";
import { poolApiVersion } from "../../../src/address-pool/object-reading.ts";
import { externalPortApiVersion, externalPortFinalizer } from "../../../features/external-ports/rules/external-port.ts";
import { inUseFinalizer, podNetworkApiVersion } from "../../../src/podnetwork/objects.ts";

/** A kind whose objects have a finalizer of plexus-controller. */
export interface FinalizerKind {
  readonly kind: string;
  /** The group and the version, such as `plexus.dev/v1alpha1`. */
  readonly apiVersion: string;
  /** The resource's name in paths. */
  readonly plural: string;
  readonly finalizer: string;
}

/** All such kinds. A PodNetworkAttachment keeps its PodNetwork in use, so attachments come first. */
export const finalizerKinds: readonly FinalizerKind[] = [
  { kind: "PodNetworkAttachment", apiVersion: podNetworkApiVersion, plural: "podnetworkattachments", finalizer: inUseFinalizer },
  { kind: "PodNetwork", apiVersion: podNetworkApiVersion, plural: "podnetworks", finalizer: inUseFinalizer },
  { kind: "AddressPool", apiVersion: poolApiVersion, plural: "addresspools", finalizer: poolFinalizer },
  { kind: "ExternalPort", apiVersion: externalPortApiVersion, plural: "externalports", finalizer: externalPortFinalizer },
];
