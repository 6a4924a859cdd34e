// The kinds of whereabouts, which keeps its addresses in them.

import type { KubernetesObject } from "@kubernetes/client-node";

/** The API group. */
export const whereaboutsGroup = "whereabouts.cni.cncf.io";

/** The kinds that the plugin reads and writes. */
export const whereaboutsKinds = ["IPPool", "OverlappingRangeIPReservation"] as const;

const text = { type: "string" };
/** The schema of each kind's `spec`, as in whereabouts' own definitions. */
const specs: Readonly<Record<(typeof whereaboutsKinds)[number], object>> = {
  IPPool: {
    type: "object",
    required: ["allocations", "range"],
    properties: {
      range: text,
      allocations: {
        type: "object",
        additionalProperties: {
          type: "object",
          required: ["id", "podref"],
          properties: { id: text, podref: text, ifname: text },
        },
      },
    },
  },
  OverlappingRangeIPReservation: {
    type: "object",
    required: ["podref"],
    properties: { podref: text, ifname: text, containerid: text },
  },
};

/** whereabouts' CustomResourceDefinition of a kind. */
export function whereaboutsDefinition(
  kind: (typeof whereaboutsKinds)[number],
): KubernetesObject & Readonly<Record<string, unknown>> {
  const plural = `${kind.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: "object", properties: { spec: specs[kind] } } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${whereaboutsGroup}` },
    spec: {
      group: whereaboutsGroup,
      scope: "Namespaced",
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: [{ name: "v1alpha1", served: true, storage: true, schema }],
    },
  };
}
