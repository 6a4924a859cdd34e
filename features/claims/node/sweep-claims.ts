// Removes prepared claims that no kubelet unprepares any more: a kubelet that lost its own state does not know them.

import { type Fault, joinFaults } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import type { ObjectReader } from "../../../host/cluster/kube/api-objects.ts";
import type { JournalReader } from "../../../host/store/journal/journal.ts";
import { claimPath, unprepared } from "../driver/prepare-claims.ts";
import type { DeviceFiles } from "../driver/device-files.ts";
import type { PreparedClaim } from "../rules/prepared-claim.ts";
import type { ClaimStore } from "./claim-store.ts";

/** The parts of the daemon that the sweep needs. */
export interface SweepDeps {
  readonly store: ClaimStore;
  readonly files: DeviceFiles;
  readonly journal: JournalReader;
  readonly api: ObjectReader;
}

/** Removes the claims that no attachment uses and that the API does not have, or whose file is torn; answers their number. Faults: STORE_FAILED. */
export async function sweepClaims({ store, files, journal, api }: SweepDeps): Promise<Result<number>> {
  const uids = store.uids();
  if (!uids.ok || uids.value.length === 0) return uids.ok ? ok(0) : uids;
  const keys = journal.list();
  if (!keys.ok) return keys;
  const used = new Set(
    keys.value.flatMap((key) => {
      const entry = journal.load(key);
      return entry.ok ? (entry.value?.plan.attachments ?? []).map(({ claim }) => claim?.uid ?? "") : [];
    }),
  );
  let removed = 0;
  const faults: Fault[] = [];
  for (const uid of uids.value) {
    const claim = store.claim(uid);
    if (used.has(uid) || !claim.ok) continue;
    // A power loss has torn the file: the claim's next Prepare writes it anew.
    const isOver = claim.value === undefined || (await isGone(api, claim.value));
    if (!isOver) continue;
    // A file that cannot be removed holds back no other claim.
    const done = unprepared({ store, files }, uid);
    if (done.ok) removed += 1;
    else faults.push(done.fault);
  }
  const joined = joinFaults(faults);
  return joined === undefined ? ok(removed) : failed(joined);
}

async function isGone(api: ObjectReader, claim: PreparedClaim): Promise<boolean> {
  const answer = await api.get(claimPath(claim));
  const metadata = answer.kind === "object" ? answer.object["metadata"] : undefined;
  return answer.kind === "absent" || (isJsonObject(metadata) && metadata["uid"] !== claim.uid);
}
