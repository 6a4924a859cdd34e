// Collections of the API that the commands about Services read.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { ApiObjects } from "../../../host/cluster/kube/api-objects.ts";

/** The objects of a collection. Fault API_REFUSED. */
export async function listOf(
  objects: ApiObjects,
  path: string,
  what: string,
  query: Readonly<Record<string, string>> = {},
): Promise<Result<readonly unknown[]>> {
  const listed = await objects.list(path, query);
  return listed.kind === "list" ? ok(listed.items) : failed(fault("API_REFUSED", `${what}: ${listed.why}`));
}
