// Prepared claims of several pods whose file is damaged. The file no longer tells which pods have the claim, so the pod's own object of the API does: the other
// pods of the namespace start.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { isJsonObject, parseDocument } from "../../../src/json/document.ts";
import { quote } from "../../../src/json/quote.ts";
import type { Pod } from "../../../host/cluster/cluster.ts";
import type { ApiCaller } from "../../../host/cluster/object-source.ts";
import { statusMessage } from "../../../host/cluster/kube/api-client.ts";
import { claimPath } from "../driver/prepare-claims.ts";
import { claimNamesOf } from "../rules/claim-names.ts";

/** Checks that none of the damaged claims is the pod's. Faults: CLAIM_UNUSABLE, POD_NOT_FOUND, and those of the API. */
export async function checkDamaged(
  uids: readonly string[],
  { namespace, name, uid }: Pod,
  api: ApiCaller | undefined,
): Promise<Result<void>> {
  const what = `pod ${namespace}/${name}`;
  if (api === undefined) {
    const why = `the prepared claim ${uids.join(", ")} is damaged, and no Kubernetes API is configured that says whether it is this pod's`;
    return failed(fault("CLAIM_UNUSABLE", `${what}: ${why}`));
  }
  const pod = await readObject(api, `/api/v1/namespaces/${namespace}/pods/${name}`, what);
  if (!pod.ok) return pod;
  if (pod.value === undefined || uidOf(pod.value) !== uid)
    return failed(fault("POD_NOT_FOUND", `${what} with uid ${quote(uid ?? "", 60)}: not found in the Kubernetes API`));
  for (const claimName of claimNamesOf(pod.value)) {
    const claimed = `resource claim ${namespace}/${claimName}`;
    const claim = await readObject(api, claimPath({ namespace, name: claimName }), claimed);
    if (!claim.ok) return claim;
    // A claim that was removed by force may be any of the damaged ones.
    if (claim.value === undefined) return failed(fault("CLAIM_UNUSABLE", `${claimed}: not found in the Kubernetes API`));
    const claimUid = uidOf(claim.value);
    if (claimUid === undefined || !uids.includes(claimUid)) continue;
    const remedy = "restart the kubelet, which prepares the pod's claims again";
    return failed(fault("CLAIM_UNUSABLE", `${claimed}: its file on the node, ${claimUid}, is damaged; ${remedy}`));
  }
  return ok(undefined);
}

/** Reads an object of the API; undefined if the API has none. `what` names the object in messages. Faults: CLAIM_UNUSABLE, and those of the API. */
export async function readObject(api: ApiCaller, path: string, what: string): Promise<Result<unknown>> {
  const answer = await api.call({ method: "GET", path });
  if (!answer.ok) return answer;
  const { status, body } = answer.value;
  if (status === 404) return ok(undefined);
  if (status >= 300) return failed(fault("CLAIM_UNUSABLE", `${what}: HTTP ${status}${statusMessage(body)}`));
  const document = parseDocument(body, { what, kind: "API_REFUSED" });
  return document.ok ? ok(document.value.parsed) : document;
}

/** The uid of an object of the API. */
export function uidOf(object: unknown): string | undefined {
  const metadata = isJsonObject(object) ? object["metadata"] : undefined;
  const uid = isJsonObject(metadata) ? metadata["uid"] : undefined;
  return typeof uid === "string" ? uid : undefined;
}
