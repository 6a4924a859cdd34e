// Tries again to undo abandoned attachments (RT-07), in a GC, a further DEL or the next ADD: by then the plugin may be able to.

import { fault } from "../../../src/fault/fault.ts";
import { failed, type Result } from "../../../src/fault/result.ts";
import type { AbandonedFile } from "../../store/journal/abandoned.ts";
import { journalKey, type Call } from "../call.ts";
import { CurrentNetworks } from "../plan/current-network.ts";
import { entriesOf, withoutSharedResults } from "../../store/journal/shared-addresses.ts";
import { type Choose, undoEntry } from "./undo.ts";

/**
 * Undoes one abandoned attachment, as far as `choose` allows. `CNI_NETNS` is empty, because the namespace of its ADD is gone and the path may be another pod's.
 * The record is removed when all is undone. The caller holds the container's lock. Fault: the reason why the record stays.
 */
export async function finishAbandoned(call: Call, file: AbandonedFile, choose: Choose = () => true): Promise<Result<void>> {
  const loaded = call.abandoned.load(file);
  if (!loaded.ok) return loaded;
  if (loaded.value === undefined) return { ok: true, value: undefined };
  const live = call.journal.load(file.key);
  // Plugins identify an attachment by container and interface name, so they would undo the newer one.
  if (!live.ok || live.value !== undefined) {
    const why = `container ${file.key.containerId} is attached again as ${file.key.ifname}`;
    return failed(fault("ALREADY_ATTACHED", `${why}; the abandoned attachment is undone after the DEL of the new one`));
  }
  const networks = new CurrentNetworks(call);
  return undoEntry(call, withoutSharedResults(loaded.value, file.key, entriesOf(call.journal)), "", {
    choose: async (list, planned) => (await networks.mayCollect(list, planned)) && (await choose(list, planned)),
    keeper: call.abandoned.keeper(file),
  });
}

/**
 * Tries again to undo the abandoned attachments of this call. A failure is a warning and not a fault, because the runtime's DEL has
 * already succeeded. Returns whether there was any record.
 */
export async function retryAbandoned(call: Call): Promise<boolean> {
  const files = call.abandoned.list(journalKey(call));
  if (!files.ok) call.warn(files.fault.msg);
  for (const file of files.ok ? files.value : []) {
    const finished = await finishAbandoned(call, file);
    if (!finished.ok) call.warn(`still abandoned: ${file.path}: ${finished.fault.msg}`);
  }
  return files.ok && files.value.length > 0;
}
