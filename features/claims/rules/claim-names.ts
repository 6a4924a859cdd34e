// The names of a pod's resource claims, by the pod's object of the API.

import { isJsonObject } from "../../../src/json/document.ts";
import { subdomainProblem } from "../../../src/npwg/object-names.ts";

/** The entries of a pod that are read: Kubernetes allows as many. */
const maxEntries = 64;

/**
 * The claims that the pod names, those made from its templates, and that of its extended resources. Names that Kubernetes does not allow are left out,
 * because a name becomes a path of the API.
 */
export function claimNamesOf(pod: unknown): readonly string[] {
  const spec = memberOf(pod, "spec");
  const status = memberOf(pod, "status");
  const entries = [...listOf(spec, "resourceClaims"), ...listOf(status, "resourceClaimStatuses")];
  const named = [...entries, memberOf(status, "extendedResourceClaimStatus")].map((entry) => entry["resourceClaimName"]);
  return [...new Set(named.filter((name): name is string => typeof name === "string" && subdomainProblem(name) === undefined))];
}

function memberOf(value: unknown, key: string): Readonly<Record<string, unknown>> {
  const member = isJsonObject(value) ? value[key] : undefined;
  return isJsonObject(member) ? member : {};
}

function listOf(value: Readonly<Record<string, unknown>>, key: string): readonly Readonly<Record<string, unknown>>[] {
  const list = value[key];
  return Array.isArray(list) ? (list as readonly unknown[]).slice(0, maxEntries).filter(isJsonObject) : [];
}
