// Imports addresses that whereabouts or host-local has given into an AddressPool: as exclusions, so that no node hands them out while their pods live.

import { readAddressBlock, addressBlocksPath } from "../rules/address-block.ts";
import { type AddressPool, readAddressPool } from "../rules/address-pool.ts";
import { subnetsOverlap, whereaboutsSubnets } from "../rules/import/definition-ranges.ts";
import type { HeldAddresses } from "../rules/import/held-address.ts";
import { type ImportPlan, planImport } from "../rules/import/plan-import.ts";
import { readIpPool, readOverlappingReservation, whereaboutsApiVersion } from "../rules/import/whereabouts.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { formatCidr } from "../../../src/net/ip.ts";
import type { ApiObjects } from "../../../host/cluster/kube/api-objects.ts";
import { readHostLocalDirectories } from "./host-local-leases.ts";
import { closeIpPools } from "./close-ip-pools.ts";
import { listAll, poolsPath, usedAddresses } from "./pool-objects.ts";

/** The annotation with the exclusions that imports have made, by source. */
export const importedAnnotation = "plexus.dev/imported-exclusions";

/** The pool of an import, and the source of its addresses. */
export interface ImportOptions {
  readonly pool: string;
  /** Directories of host-local; none: whereabouts' objects of the cluster. */
  readonly directories: readonly string[];
  /** The name of this import among others. */
  readonly source: string;
  readonly write: boolean;
}

/** An import, written or not. */
export interface ImportReport extends Omit<ImportPlan, "imported"> {
  readonly pool: string;
  readonly source: string;
  readonly problems: readonly string[];
  readonly written: boolean;
}

/** Maximum repeated reads of the records, if they change while the pool is written. */
const maxRounds = 5;

/** Plans an import, and writes it if nothing forbids that. Fault CLUSTER_UNREADABLE. */
export async function importAddresses(objects: ApiObjects, options: ImportOptions): Promise<Result<ImportReport>> {
  for (let round = 1; ; round++) {
    const prepared = await prepare(objects, options);
    if (!prepared.ok) return prepared;
    const { pool, plan, problems, isCurrent } = prepared.value;
    const { imported, ...shown } = plan;
    const report = { ...shown, pool: options.pool, source: options.source, problems };
    const isRefused = problems.length > 0 || plan.conflicts.length > 0;
    if (!options.write || isRefused) return ok({ ...report, written: false });
    const closed = options.directories.length === 0 ? await closeIpPools(objects, pool) : ok(false);
    if (!closed.ok) return closed;
    // A second look, after the write, has found nothing new: no address was given meanwhile.
    if (isCurrent && !closed.value) return ok({ ...report, written: true });
    if (round === maxRounds) {
      return failed(
        fault("CLUSTER_UNREADABLE", `the records of ${options.source} still change: stop what takes addresses, and import again`),
      );
    }
    // The records may have changed until the IPPools were closed.
    if (closed.value) continue;
    const written = await objects.patch(`${poolsPath}/${options.pool}`, {
      metadata: { resourceVersion: pool.resourceVersion, annotations: { [importedAnnotation]: JSON.stringify(imported) } },
      spec: { exclude: plan.exclude },
    });
    if (written.kind !== "object" && written.kind !== "conflict") {
      return failed(fault("CLUSTER_UNREADABLE", `AddressPool ${options.pool} cannot be changed: ${written.why}`));
    }
  }
}

interface Prepared {
  readonly pool: AddressPool;
  readonly plan: ImportPlan;
  readonly problems: readonly string[];
  /** Whether the pool has the plan's exclusions already. */
  readonly isCurrent: boolean;
}

async function prepare(objects: ApiObjects, { pool: name, directories, source }: ImportOptions): Promise<Result<Prepared>> {
  const found = await objects.get(`${poolsPath}/${name}`);
  if (found.kind !== "object") return failed(fault("CLUSTER_UNREADABLE", `AddressPool ${name}: ${found.why}`));
  const pool = readAddressPool(found.object);
  if (!pool.ok) return failed(fault("CLUSTER_UNREADABLE", `AddressPool ${name}: ${pool.problem}`));
  const records =
    directories.length === 0 ? await fromWhereabouts(objects, pool.value) : ok(readHostLocalDirectories(directories));
  if (!records.ok) return records;
  const blocks = await listAll(objects, addressBlocksPath);
  if (!blocks.ok) return blocks;
  const used = await usedAddresses(objects);
  if (!used.ok) return used;
  const exclude = textsOf(isJsonObject(found.object["spec"]) ? found.object["spec"]["exclude"] : undefined);
  const imported = importedOf(found.object["metadata"]);
  if (!imported.ok) return imported;
  const plan = planImport({
    pool: pool.value,
    exclude,
    source,
    imported: imported.value,
    records: records.value.held,
    isOfAllNodes: directories.length === 0,
    blocks: blocks.value.flatMap((each) => {
      const block = readAddressBlock(each);
      return block.ok ? [block.value] : [];
    }),
    used: used.value,
  });
  const isCurrent =
    JSON.stringify(exclude) === JSON.stringify(plan.exclude) && JSON.stringify(imported.value) === JSON.stringify(plan.imported);
  return ok({ pool: pool.value, plan, problems: records.value.problems, isCurrent });
}

/** whereabouts' records, and as problems the definitions that still take addresses of the pool from whereabouts. */
async function fromWhereabouts(objects: ApiObjects, pool: AddressPool): Promise<Result<HeldAddresses>> {
  const definitions = await listAll(objects, "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions", []);
  if (!definitions.ok) return definitions;
  const problems = definitions.value.flatMap((definition) => {
    const { metadata, spec } = isJsonObject(definition) ? definition : {};
    const config = isJsonObject(spec) ? spec["config"] : undefined;
    const overlap = whereaboutsSubnets(config).find((cidr) => pool.ranges.some(({ subnet }) => subnetsOverlap(cidr, subnet)));
    if (overlap === undefined) return [];
    const { namespace, name } = isJsonObject(metadata) ? metadata : {};
    return [
      `NetworkAttachmentDefinition ${String(namespace)}/${String(name)} still takes addresses of ${formatCidr(overlap)} from whereabouts: ` +
        `give it "ipam": {"type": "ipam-host-local", "pool": "${pool.name}"} first`,
    ];
  });
  const held: HeldAddresses["held"][number][] = [];
  for (const [plural, read] of [
    ["ippools", readIpPool],
    ["overlappingrangeipreservations", readOverlappingReservation],
  ] as const) {
    const listed = await listAll(objects, `/apis/${whereaboutsApiVersion}/${plural}`, []);
    if (!listed.ok) return listed;
    for (const object of listed.value) {
      const each = read(object);
      held.push(...each.held);
      problems.push(...each.problems);
    }
  }
  return ok({ held, problems });
}

function importedOf(metadata: unknown): Result<Readonly<Record<string, readonly string[]>>> {
  const annotations = isJsonObject(metadata) ? metadata["annotations"] : undefined;
  const text = isJsonObject(annotations) ? annotations[importedAnnotation] : undefined;
  if (text === undefined) return ok({});
  try {
    const parsed: unknown = typeof text === "string" ? JSON.parse(text) : undefined;
    if (isJsonObject(parsed)) return ok(Object.fromEntries(Object.entries(parsed).map(([key, value]) => [key, textsOf(value)])));
  } catch {
    // The fault below says what to do.
  }
  const why = `its annotation ${importedAnnotation} is not readable: take the annotation out; exclusions of earlier imports then stay`;
  return failed(fault("CLUSTER_UNREADABLE", `the pool cannot be imported into, because ${why}`));
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
