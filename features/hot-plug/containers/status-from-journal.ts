// The network status of a running pod, written from the journal: after a change, and later if it could not be written then.

import { ok, type Result } from "../../../src/fault/result.ts";
import { deviceInfoOf, deviceInfoCapability } from "../../../src/npwg/device-info.ts";
import { boundedJson } from "../../../src/json/bounded-json.ts";
import type { Cluster, Pod } from "../../../host/cluster/cluster.ts";
import { readDeviceInfoFile } from "../../../host/cluster/device-info/device-info-file.ts";
import type { JournalEntry } from "../../../host/store/journal/entry.ts";
import type { JournalKey } from "../../../host/store/journal/entry-file.ts";
import type { Call } from "../../../host/engine/call.ts";
import { profileOf } from "../../../src/npwg/profile.ts";
import type { ShownAttachment } from "../../../host/engine/planned/attachment-plan.ts";
import { writeStatus } from "../../../host/engine/verbs/publish-status.ts";
import { isWhole, journalledResult } from "./running-container.ts";

/**
 * Writes the pod's network status from the entry, if it is due. The caller holds no lock: the API may be slow, and the runtime's DEL must not wait. Faults:
 * those of the API; the status stays due then.
 */
export async function publishFromJournal(call: Call, key: JournalKey, cluster: Cluster, pod: Pod): Promise<Result<void>> {
  const loaded = call.journal.load(key);
  if (!loaded.ok) return loaded;
  const entry = loaded.value;
  if (entry?.closed !== true || entry.statusDue !== true) return ok(undefined);
  const published = await writeStatus(cluster, pod, shownOf(entry), profileOf(call.configuration), call.features);
  if (!published.ok) return published;
  const held = await call.locks.container(key);
  if (!held.ok) return held;
  try {
    const current = call.journal.load(key);
    // A change that came meanwhile writes its own status. Without an entry the runtime has deleted the container.
    if (!current.ok || current.value === undefined || !isSameState(current.value, entry)) return ok(undefined);
    return call.journal.append(key, { status: "written" });
  } finally {
    held.value();
  }
}

function isSameState(one: JournalEntry, other: JournalEntry): boolean {
  return JSON.stringify([one.plan.attachments, one.progress]) === JSON.stringify([other.plan.attachments, other.progress]);
}

function shownOf({ plan, progress }: JournalEntry): readonly ShownAttachment[] {
  return plan.attachments.flatMap(({ ifname, hotPlug = {}, capabilityArgs }, index): ShownAttachment[] => {
    const state = progress[index];
    const result = state !== undefined && isWhole(state) ? journalledResult(state.result) : undefined;
    if (result === undefined) return [];
    const { statusName, defaultRoute, podNetwork, gatewayOf } = hotPlug;
    const path = boundedJson(capabilityArgs[deviceInfoCapability] ?? "null");
    // An unusable file was reported at the attachment's ADD.
    const file = typeof path === "string" ? readDeviceInfoFile(path) : ok(undefined);
    const deviceInfo = (file.ok ? file.value : undefined) ?? deviceInfoOf(result);
    return [{ ifname, result, statusName, defaultRoute, deviceInfo, podNetwork, gatewayOf }];
  });
}
