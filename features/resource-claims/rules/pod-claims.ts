// The resource claims of a pod (Kubernetes API resource.k8s.io/v1): those that its spec names, those made from its templates, and the one
// that the scheduler makes for extended resources.

import { quote } from "../../../src/json/quote.ts";
import { subdomainProblem } from "../../../src/npwg/object-names.ts";
import { problem, type Reading } from "../../../src/kube/object-parts.ts";
import { objectIn, objectsIn, textIn } from "./reading.ts";

/** A pod's claims, as names in its namespace. */
export interface PodClaims {
  readonly uid: string;
  /** The node that the pod is bound to. */
  readonly nodeName: string;
  /** In the order of the pod's spec, each once. */
  readonly claims: readonly string[];
  /** The claim for extended resources; undefined if the pod has none. */
  readonly extended: ExtendedClaim | undefined;
}

/** The scheduler's claim for a pod's extended resources, such as `example.com/nic: 1` in a container's limits. */
export interface ExtendedClaim {
  readonly claim: string;
  /** The extended resources that each request of the claim stands for. */
  readonly resources: ReadonlyMap<string, readonly string[]>;
}

const maxClaims = 64;
const maxMappings = 512;

/** Reads the claims of a pod of the API. A template whose claim was not needed has none. */
export function readPodClaims(pod: unknown): Reading<PodClaims> {
  const spec = objectIn(pod, "spec");
  const status = objectIn(pod, "status");
  const entries = objectsIn(spec, "resourceClaims", maxClaims);
  if (!entries.ok) return problem(`spec.${entries.problem}`);
  const generated = objectsIn(status, "resourceClaimStatuses", maxClaims);
  if (!generated.ok) return problem(`status.${generated.problem}`);
  const byEntry = new Map(generated.value.map((each) => [textIn(each, "name"), textIn(each, "resourceClaimName")]));
  const claims = new Set<string>();
  for (const entry of entries.value) {
    const entryName = textIn(entry, "name");
    const claim = textIn(entry, "resourceClaimName") || byEntry.get(entryName);
    if (claim === undefined)
      return problem(
        `has no claim yet for the entry ${quote(entryName, 64)} of spec.resourceClaims; the runtime tries the pod again`,
      );
    // An entry of the status without a name means that no claim is needed.
    if (claim === "") continue;
    const invalid = nameProblem(claim);
    if (invalid !== undefined) return problem(invalid);
    claims.add(claim);
  }
  const extended = readExtended(objectIn(status, "extendedResourceClaimStatus"));
  if (!extended.ok) return extended;
  const nodeName = textIn(spec, "nodeName");
  if (claims.size + (extended.value === undefined ? 0 : 1) > 0 && subdomainProblem(nodeName) !== undefined)
    return problem(`is bound to no node: spec.nodeName is ${quote(nodeName, 64)}`);
  const uid = textIn(objectIn(pod, "metadata"), "uid");
  return { ok: true, value: { uid, nodeName, claims: [...claims], extended: extended.value } };
}

function readExtended(status: Readonly<Record<string, unknown>>): Reading<ExtendedClaim | undefined> {
  const claim = textIn(status, "resourceClaimName");
  if (claim === "") return { ok: true, value: undefined };
  const invalid = nameProblem(claim);
  if (invalid !== undefined) return problem(invalid);
  const mappings = objectsIn(status, "requestMappings", maxMappings);
  if (!mappings.ok) return problem(`status.extendedResourceClaimStatus.${mappings.problem}`);
  const resources = new Map<string, readonly string[]>();
  for (const mapping of mappings.value) {
    const request = textIn(mapping, "requestName");
    resources.set(request, [...(resources.get(request) ?? []), textIn(mapping, "resourceName")]);
  }
  return { ok: true, value: { claim, resources } };
}

function nameProblem(claim: string): string | undefined {
  const invalid = subdomainProblem(claim);
  return invalid === undefined ? undefined : `names the resource claim ${quote(claim, 64)}, whose name ${invalid}`;
}
