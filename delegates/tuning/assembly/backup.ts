// The interface's original values, in the reference tuning's file format: each plugin's DEL restores what the other's ADD
// changed.

import { Change, Link, LinkName } from "plexus/abi/links";
import { Json } from "plexus/json";
import { parseJson } from "plexus/json-parse";
import { Some } from "plexus/some";
import { Settings } from "./settings";

/** The earlier values of the changed attributes; null: not changed. */
@final
export class Backup {
  mac: string | null = null;
  promiscuous: Some<bool> | null = null;
  mtu: Some<u32> | null = null;
  allMulticast: Some<bool> | null = null;
  txQueueLength: Some<u32> | null = null;

  /** The values that `settings` will change. */
  static of(link: Link, settings: Settings): Backup {
    const backup = new Backup();
    if (settings.mac !== null) backup.mac = link.mac;
    if (settings.promiscuous) backup.promiscuous = new Some<bool>(link.promiscuous);
    if (settings.mtu !== null) backup.mtu = new Some<u32>(link.mtu);
    if (settings.allMulticast !== null) backup.allMulticast = new Some<bool>(link.allMulticast);
    if (settings.txQueueLength !== null) backup.txQueueLength = new Some<u32>(link.txQueueLength);
    return backup;
  }

  /** Null: the text is not a backup. Members of a wrong type are ignored. */
  static read(text: string): Backup | null {
    const json = parseJson(text).value;
    if (json === null || !json.isObject) return null;
    const backup = new Backup();
    const mac = json.getAnyCase("mac");
    if (mac !== null && mac.asStringOrNull() != "") backup.mac = mac.asStringOrNull();
    backup.promiscuous = boolOf(json, "promisc");
    const mtu = numberOf(json, "mtu");
    if (mtu !== null && mtu.value != 0) backup.mtu = mtu;
    backup.allMulticast = boolOf(json, "allmulti");
    backup.txQueueLength = numberOf(json, "txQLen");
    return backup;
  }

  /** An earlier tuning step's backup has the values from before both steps, so its values are kept. */
  keepEarlier(earlier: Backup): void {
    if (earlier.mac !== null) this.mac = earlier.mac;
    if (earlier.promiscuous !== null) this.promiscuous = earlier.promiscuous;
    if (earlier.mtu !== null) this.mtu = earlier.mtu;
    if (earlier.allMulticast !== null) this.allMulticast = earlier.allMulticast;
    if (earlier.txQueueLength !== null) this.txQueueLength = earlier.txQueueLength;
  }

  /** The file's text, like Go's json.MarshalIndent with one blank. */
  toString(): string {
    const lines: Array<string> = [];
    const mac = this.mac;
    if (mac !== null && mac != "") lines.push(` "mac": ${Json.string(mac).toString()}`);
    const promiscuous = this.promiscuous;
    if (promiscuous !== null) lines.push(` "promisc": ${promiscuous.value ? "true" : "false"}`);
    const mtu = this.mtu;
    if (mtu !== null && mtu.value != 0) lines.push(` "mtu": ${mtu.value}`);
    const allMulticast = this.allMulticast;
    if (allMulticast !== null) lines.push(` "allmulti": ${allMulticast.value ? "true" : "false"}`);
    const queue = this.txQueueLength;
    if (queue !== null) lines.push(` "txQLen": ${queue.value}`);
    return lines.length == 0 ? "{}" : `{\n${lines.join(",\n")}\n}`;
  }

  /** The changes that restore the interface: one for each attribute, so that a failing one does not stop the others. */
  changes(link: LinkName): Array<Change> {
    const changes: Array<Change> = [];
    if (this.mtu !== null) {
      const change = new Change(link);
      change.mtu = this.mtu;
      changes.push(change);
    }
    if (this.mac !== null) {
      const change = new Change(link);
      change.mac = this.mac;
      changes.push(change);
    }
    if (this.promiscuous !== null) {
      const change = new Change(link);
      change.promiscuous = this.promiscuous;
      changes.push(change);
    }
    if (this.allMulticast !== null) {
      const change = new Change(link);
      change.allMulticast = this.allMulticast;
      changes.push(change);
    }
    if (this.txQueueLength !== null) {
      const change = new Change(link);
      change.txQueueLength = this.txQueueLength;
      changes.push(change);
    }
    return changes;
  }
}

function boolOf(json: Json, key: string): Some<bool> | null {
  const value = json.getAnyCase(key);
  return value === null || !value.isBool ? null : new Some<bool>(value.isTrue);
}

function numberOf(json: Json, key: string): Some<u32> | null {
  const value = json.getAnyCase(key);
  return value === null ? null : value.asU32OrNull();
}
