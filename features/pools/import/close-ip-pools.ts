// Closes whereabouts' IPPools before an import: from then on the API server's policy plexus-imported-addresses refuses further records in them. An ADD of
// whereabouts takes up to two minutes, so one that began before the definitions were changed could otherwise write its record after the import.

import { setTimeout } from "node:timers/promises";
import { subnetsOverlap } from "../rules/import/definition-ranges.ts";
import { whereaboutsApiVersion } from "../rules/import/whereabouts.ts";
import type { AddressPool } from "../rules/address-pool.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { readCidr } from "../../../src/net/ip.ts";
import type { ApiObjects } from "../../../host/cluster/kube/api-objects.ts";
import { listAll, poolsPath } from "./pool-objects.ts";

/** The annotation of an AddressPool that takes over addresses of whereabouts. The policy refuses new IPPools with its addresses. */
const importedFrom = "plexus.dev/imported-from";
/** With the AddressPool's name: the annotation of an IPPool in which the policy refuses further records. */
const importedInto = "plexus.dev/imported-into-";
const policy = "plexus-imported-addresses";
/** Looks for the policy, and the pause between two of them in ms. The API server compiles a new policy some time after its creation. */
const maxLooks = 20;
const lookMs = 500;

/** Closes the IPPools with addresses of the pool. Answers whether an IPPool was open before. Fault CLUSTER_UNREADABLE. */
export async function closeIpPools(objects: ApiObjects, pool: AddressPool): Promise<Result<boolean>> {
  const marked = await annotate(objects, `${poolsPath}/${pool.name}`, importedFrom, "whereabouts");
  if (!marked.ok) return marked;
  const listed = await listAll(objects, `/apis/${whereaboutsApiVersion}/ippools`, []);
  if (!listed.ok) return listed;
  const mark = `${importedInto}${pool.name}`;
  let wasOpen = false;
  for (const object of listed.value) {
    const path = overlappingPath(object, pool);
    if (path === undefined) continue;
    const { metadata } = isJsonObject(object) ? object : {};
    const annotations = isJsonObject(metadata) ? metadata["annotations"] : undefined;
    if (!isJsonObject(annotations) || annotations[mark] === undefined) {
      wasOpen = true;
      const closed = await annotate(objects, path, mark, "");
      if (!closed.ok) return closed;
    }
    const refused = await refusesRecords(objects, path);
    if (!refused.ok) return refused;
  }
  return ok(wasOpen);
}

/** The path of an IPPool with addresses of the pool. */
function overlappingPath(object: unknown, { ranges }: AddressPool): string | undefined {
  const { metadata, spec } = isJsonObject(object) ? object : {};
  const range = isJsonObject(spec) ? spec["range"] : undefined;
  const cidr = typeof range === "string" ? readCidr(range) : undefined;
  if (cidr === undefined || !ranges.some(({ subnet }) => subnetsOverlap(cidr, subnet))) return undefined;
  const { namespace, name } = isJsonObject(metadata) ? metadata : {};
  return `/apis/${whereaboutsApiVersion}/namespaces/${encodeURIComponent(String(namespace))}/ippools/${encodeURIComponent(String(name))}`;
}

async function annotate(objects: ApiObjects, path: string, annotation: string, value: string): Promise<Result<void>> {
  const written = await objects.patch(path, { metadata: { annotations: { [annotation]: value } } });
  // An IPPool that is gone takes no further record either.
  if (written.kind === "object" || written.kind === "absent") return ok(undefined);
  return failed(fault("CLUSTER_UNREADABLE", `${path} cannot be marked as imported: ${written.why}`));
}

/** Succeeds once the API server refuses a further record. No IPPool has one with this offset, and nothing is stored. */
async function refusesRecords(objects: ApiObjects, path: string): Promise<Result<void>> {
  const record = { id: "plexusctl", podref: "plexusctl/import" };
  for (let look = 1; ; look++) {
    const tried = await objects.patch(`${path}?dryRun=All`, { spec: { allocations: { "-1": record } } });
    if (tried.kind === "absent" || (tried.kind === "refused" && tried.why.includes(policy))) return ok(undefined);
    if (tried.kind !== "object") return failed(fault("CLUSTER_UNREADABLE", `${path}: ${tried.why}`));
    if (look === maxLooks) {
      const remedy = "upgrade Plexus' chart with pools.enabled, and import again";
      const why = `whereabouts can still give addresses of ${path}: the policy ${policy} is missing`;
      return failed(fault("CLUSTER_UNREADABLE", `${why}: ${remedy}`));
    }
    await setTimeout(lookMs);
  }
}
