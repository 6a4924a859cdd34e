// The kinds of whereabouts, which keeps its addresses in them.

import type { KubernetesObject } from "@kubernetes/client-node";

/** The API group. */
export const whereaboutsGroup = "whereabouts.cni.cncf.io";

/** The kinds that the plugin reads and writes. */
export const whereaboutsKinds = ["IPPool", "OverlappingRangeIPReservation"] as const;

/** A CustomResourceDefinition that accepts all fields of a kind. */
export function whereaboutsDefinition(
  kind: (typeof whereaboutsKinds)[number],
): KubernetesObject & Readonly<Record<string, unknown>> {
  const plural = `${kind.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${whereaboutsGroup}` },
    spec: {
      group: whereaboutsGroup,
      scope: "Namespaced",
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [{ name: "v1alpha1", served: true, storage: true, schema }],
    },
  };
}
