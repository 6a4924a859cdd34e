// ADD: sysctls, then the interface. If a later part fails, earlier changes are undone.

import { apply, Change, LinkName, Operation, Place, read } from "plexus/abi/links";
import { AttachmentRequest, SuccessOrFault } from "plexus/abi/plugin";
import * as state from "plexus/abi/state";
import { Setting, write } from "plexus/abi/sysctl";
import { Fault, Success } from "plexus/abi/types";
import * as log from "plexus/abi/log";
import { invalidConfig, ownFault } from "plexus/faults";
import { Some } from "plexus/some";
import { Backup } from "./backup";
import { NO_LINK } from "./codes";
import { Settings } from "./settings";

/** Sets sysctls and attributes, and answers prevResult with the new values. After a fault all values are restored. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network, request.attachment);
  if (settings.fault !== null) return SuccessOrFault.err(settings.fault as Fault);
  const result = request.prevResult;
  if (result === null) return SuccessOrFault.err(invalidConfig("prevResult", "Required prevResult missing"));

  // DEL always reads the backup: a directory that is not granted is refused before any change.
  let earlier: string | null = null;
  if (settings.changesLink || settings.directory !== null) {
    const loaded = state.load(settings.directory);
    if (!loaded.isOk) return SuccessOrFault.err(loaded.error);
    earlier = loaded.value;
  }

  let before: Array<string> = [];
  if (settings.sysctls.length > 0) {
    const written = write(settings.sysctls);
    if (!written.isOk) return SuccessOrFault.err(written.error);
    before = written.value;
  }
  if (settings.changesLink) {
    const fault = changeLink(settings, request.attachment.ifname, earlier);
    if (fault !== null) {
      restoreSysctls(settings.sysctls, before);
      return SuccessOrFault.err(fault);
    }
    updateResult(result, request.attachment.ifname, settings);
  }
  return SuccessOrFault.ok(result);
}

/** Changes the interface after saving its backup; `earlierBackup`: the existing backup. With a fault nothing has changed. */
function changeLink(settings: Settings, ifname: string, earlierBackup: string | null): Fault | null {
  const link = new LinkName(Place.Pod, ifname);
  const found = read([link]);
  if (!found.isOk) return found.error;
  if (found.value.length == 0) return ownFault(NO_LINK, `failed to get "${ifname}": the pod has no such link`);
  const backup = Backup.of(found.value[0], settings);
  const existing: Backup | null = earlierBackup === null ? null : Backup.read(earlierBackup);
  if (existing !== null) backup.keepEarlier(existing);
  const unsaved = state.save(settings.directory, backup.toString());
  if (unsaved !== null) return unsaved;
  const changed = apply([Operation.changeLink(changeOf(link, settings))]);
  if (changed.isOk) return null;
  const left = earlierBackup === null ? state.remove(settings.directory) : state.save(settings.directory, earlierBackup);
  if (left !== null) log.write(log.Level.Warn, `the backup of ${ifname} was not restored: ${left.msg}`);
  return changed.error;
}

function changeOf(link: LinkName, settings: Settings): Change {
  const change = new Change(link);
  change.mac = settings.mac;
  if (settings.promiscuous) change.promiscuous = new Some<bool>(true);
  change.mtu = settings.mtu;
  change.allMulticast = settings.allMulticast;
  change.txQueueLength = settings.txQueueLength;
  return change;
}

function restoreSysctls(settings: Array<Setting>, before: Array<string>): void {
  const back: Array<Setting> = [];
  for (let i = before.length - 1; i >= 0; i--) back.push(new Setting(settings[i].key, before[i]));
  if (back.length == 0) return;
  const written = write(back);
  if (!written.isOk) log.write(log.Level.Warn, `sysctls were not restored: ${written.error.msg}`);
}

/** Writes the interface's new values into the result. */
function updateResult(result: Success, ifname: string, settings: Settings): void {
  for (let i = 0; i < result.interfaces.length; i++) {
    const entry = result.interfaces[i];
    if (entry.name != ifname) continue;
    if (settings.mac !== null) entry.mac = settings.mac;
    if (settings.mtu !== null && entry.mtu !== null) entry.mtu = settings.mtu;
  }
}
