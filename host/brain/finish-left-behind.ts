// Another try at what was left behind (RT-07), by GC, a further DEL or the next ADD: what a plugin could not undo then, it may undo
// now.

import { fault } from "../../src/fault/fault.ts";
import { failed, type Result } from "../../src/fault/result.ts";
import type { LeftBehindFile } from "../journal/left-behind.ts";
import { journalKey, type CallContext } from "./call-context.ts";
import { entriesOf, withoutSharedResults } from "./shared-addresses.ts";
import { undoEntry } from "./undo.ts";

/**
 * Undoes one record, with no namespace: that of its ADD is gone by now, and its path may be another pod's. The record goes
 * once nothing is left of it. The caller holds the container's lock. Fault: why it stays.
 */
export async function finishLeftBehind(context: CallContext, file: LeftBehindFile): Promise<Result<void>> {
  const loaded = context.leftBehind.load(file);
  if (!loaded.ok) return loaded;
  if (loaded.value === undefined) return { ok: true, value: undefined };
  const live = context.journal.load(file.key);
  // Its plugins tell attachments apart by container and interface name: they would undo the newer one.
  if (!live.ok || live.value !== undefined) {
    return failed(fault("ALREADY_ATTACHED", `container ${file.key.containerId} is attached again, as ${file.key.ifname}`));
  }
  return undoEntry(context, withoutSharedResults(loaded.value, file.key, entriesOf(context.journal)), "", {
    choose: (list) => !list.disableGC,
    keeper: context.leftBehind.keeper(file),
  });
}

/**
 * Tries what was left behind of this very call. Nothing that stays is a fault: the runtime has had its success, and is told by a
 * warning. Answers whether there was anything.
 */
export async function retryLeftBehind(context: CallContext): Promise<boolean> {
  const files = context.leftBehind.list(journalKey(context));
  if (!files.ok) context.warn(files.fault.msg);
  for (const file of files.ok ? files.value : []) {
    const finished = await finishLeftBehind(context, file);
    if (!finished.ok) context.warn(`still left behind: ${file.path}: ${finished.fault.msg}`);
  }
  return files.ok && files.value.length > 0;
}
