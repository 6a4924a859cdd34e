// ADD: sysctls, then the interface; what was done is undone where the rest fails.

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

export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network, request.attachment);
  if (settings.fault !== null) return SuccessOrFault.err(settings.fault as Fault);
  const result = request.prevResult;
  if (result === null) return SuccessOrFault.err(invalidConfig("prevResult", "Required prevResult missing"));

  let before: Array<string> = [];
  if (settings.sysctls.length > 0) {
    const written = write(settings.sysctls);
    if (!written.isOk) return SuccessOrFault.err(written.error);
    before = written.value;
  }
  if (settings.changesLink) {
    const fault = changeLink(settings, request.attachment.ifname);
    if (fault !== null) {
      takeBack(settings.sysctls, before);
      return SuccessOrFault.err(fault);
    }
    tell(result, request.attachment.ifname, settings);
  }
  return SuccessOrFault.ok(result);
}

/** Changes the interface, with its backup before. Nothing has changed where there is a fault. */
function changeLink(settings: Settings, ifname: string): Fault | null {
  const link = new LinkName(Place.Pod, ifname);
  const found = read([link]);
  if (!found.isOk) return found.error;
  if (found.value.length == 0) return ownFault(NO_LINK, `failed to get "${ifname}": the pod has no such link`);
  const earlier = state.load(settings.directory);
  if (!earlier.isOk) return earlier.error;
  const backup = Backup.of(found.value[0], settings);
  const older = earlier.value;
  const kept: Backup | null = older === null ? null : Backup.read(older);
  if (kept !== null) backup.keepOlder(kept);
  const unsaved = state.save(settings.directory, backup.toString());
  if (unsaved !== null) return unsaved;
  const changed = apply([Operation.changeLink(changeOf(link, settings))]);
  if (changed.isOk) return null;
  const left = older === null ? state.remove(settings.directory) : state.save(settings.directory, older);
  if (left !== null) log.write(log.Level.Warn, `the backup of ${ifname} stays behind: ${left.msg}`);
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

function takeBack(settings: Array<Setting>, before: Array<string>): void {
  const back: Array<Setting> = [];
  for (let i = before.length - 1; i >= 0; i--) back.push(new Setting(settings[i].key, before[i]));
  if (back.length == 0) return;
  const written = write(back);
  if (!written.isOk) log.write(log.Level.Warn, `sysctls were not taken back: ${written.error.msg}`);
}

/** The result tells what the interface is like now. */
function tell(result: Success, ifname: string, settings: Settings): void {
  for (let i = 0; i < result.interfaces.length; i++) {
    const one = result.interfaces[i];
    if (one.name != ifname) continue;
    if (settings.mac !== null) one.mac = settings.mac;
    if (settings.mtu !== null && one.mtu !== null) one.mtu = settings.mtu;
  }
}
