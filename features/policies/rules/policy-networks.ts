// The networks that a MultiNetworkPolicy is for: the annotation `k8s.v1.cni.cncf.io/policy-for`.

import { quote } from "../../../src/json/quote.ts";
import { readNetworkName } from "../../../src/npwg/network-name.ts";

/** The annotation of a MultiNetworkPolicy. */
export const policyForAnnotation = "k8s.v1.cni.cncf.io/policy-for";

/** The networks of a policy. */
export interface PolicyNetworks {
  /** `namespace/name` of definitions, and `podnetwork/NAME`. */
  readonly networks: readonly string[];
  /** Parts of the annotation that name nothing, each with its reason. They select no network. */
  readonly problems: readonly string[];
  /** The bound that the annotation exceeds: the policy may be for networks that are not read. */
  readonly excess?: string;
}

/** Maximum networks of one policy, and characters of the annotation. */
const maxNetworks = 64;
const maxCharacters = 32_768;

/** Reads the annotation. A definition without a namespace is one of the policy's. Without the annotation a policy is for no network. */
export function readPolicyNetworks(annotation: string | undefined, namespace: string): PolicyNetworks {
  if (annotation === undefined) return { networks: [], problems: [] };
  if (annotation.length > maxCharacters) {
    const excess = `the annotation ${policyForAnnotation} has ${annotation.length} characters; Plexus allows ${maxCharacters}`;
    return { networks: [], problems: [excess], excess };
  }
  const networks = new Set<string>();
  const problems: string[] = [];
  let beyond = 0;
  for (const part of annotation.split(",").map((each) => each.trim())) {
    if (part === "") continue;
    const network = readNetworkName(part, namespace);
    if (!network.ok) problems.push(network.problem);
    else if (networks.size === maxNetworks && !networks.has(network.value)) {
      beyond += 1;
      problems.push(`${quote(part, 80)} is beyond the ${maxNetworks} networks that a policy may name`);
    } else networks.add(network.value);
  }
  if (beyond === 0) return { networks: [...networks], problems };
  const excess = `the annotation ${policyForAnnotation} names ${maxNetworks + beyond} networks; Plexus allows ${maxNetworks}`;
  return { networks: [...networks], problems, excess };
}
