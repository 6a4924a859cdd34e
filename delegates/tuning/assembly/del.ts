// DEL: restores the interface as far as possible, and removes the backup in any case.

import { apply, Change, LinkName, Operation, Place, read } from "plexus/abi/links";
import { AttachmentRequest } from "plexus/abi/plugin";
import * as state from "plexus/abi/state";
import { Fault } from "plexus/abi/types";
import * as log from "plexus/abi/log";
import { Backup } from "./backup";
import * as settings from "./settings";

/** Restores the backup's values and removes the backup. Answers only faults of the backup itself. */
export function del(request: AttachmentRequest): Fault | null {
  const location = settings.BackupLocation.read(request.network);
  if (location.fault !== null) return location.fault;
  const saved = state.load(location.directory);
  if (!saved.isOk) return saved.error;
  const text = saved.value;
  if (text === null) return null;
  if (request.attachment.netns !== null) {
    const backup = Backup.read(text);
    if (backup === null) log.write(log.Level.Warn, `the backup of ${request.attachment.ifname} is not JSON: nothing is restored`);
    else restore(backup, request.attachment.ifname);
  }
  return state.remove(location.directory);
}

/** Values that cannot be restored are logged and left: they must not keep a pod from being deleted. */
function restore(backup: Backup, ifname: string): void {
  const link = new LinkName(Place.Pod, ifname);
  const found = read([link]);
  if (!found.isOk) {
    log.write(log.Level.Warn, `${ifname} was not restored: ${found.error.msg}`);
    return;
  }
  if (found.value.length == 0) return;
  const changes = backup.changes(link);
  const operations = changes.map<Operation>((change: Change) => Operation.changeLink(change));
  if (operations.length == 0 || apply(operations).isOk) return;
  for (let i = 0; i < operations.length; i++) {
    const restored = apply([operations[i]]);
    if (!restored.isOk) log.write(log.Level.Warn, `${ifname} was not restored: ${restored.error.msg}`);
  }
}
