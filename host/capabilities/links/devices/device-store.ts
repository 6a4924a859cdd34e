// The records of taken devices: a file for each, in a directory of the node. The kit and unit tests keep them in memory.

import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fault, type Fault } from "../../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../../src/fault/result.ts";
import { removeFile, writeDurably } from "../../../store/files/durable-file.ts";
import { errnoOf } from "../../../store/files/errno.ts";
import { readRegularFile } from "../../../store/files/regular-file.ts";
import { walkDirectories } from "../../../store/files/walk-directories.ts";
import { type DeviceRecord, readRecord } from "./device-record.ts";

/** The attachment and the name in the pod, by which a record is found. */
export type DeviceKey = Pick<DeviceRecord, "containerId" | "ifname" | "podName">;

/** A record's file that cannot be read. Its name tells the attachment and the device's name in the pod. */
export interface DamagedRecord extends DeviceKey {
  /** Why, with the file and the remedy. */
  readonly fault: Fault;
}

/** All records of a node. */
export interface DeviceRecords {
  readonly records: readonly DeviceRecord[];
  readonly damaged: readonly DamagedRecord[];
}

/** The records of all devices that attachments of this node have. Faults: STORE_FAILED, STORE_UNSAFE. */
export interface DeviceStore {
  readonly load: (key: DeviceKey) => Result<DeviceRecord | undefined>;
  readonly list: () => Result<DeviceRecords>;
  readonly save: (record: DeviceRecord) => Result<void>;
  readonly remove: (key: DeviceKey) => Result<void>;
}

/** Maximum size of a record's file. A device has few addresses, each of at most some hundred bytes. */
const maxBytes = 262_144;
const mode = 0o700;
const suffix = ".json";

/** The store on files of a directory, which is made with the first record. */
export function deviceFiles(directory: string): DeviceStore {
  const root = resolve(directory);
  const exists = (make: boolean): Result<boolean> => walkDirectories(root, root, make ? mode : undefined, walkFaults);
  const pathOf = (key: DeviceKey): string => join(root, fileName(key));
  return {
    load: (key) => readOne(pathOf(key)),
    list: () => {
      const there = exists(false);
      if (!there.ok) return there;
      let names: readonly string[];
      try {
        names = readdirSync(root).filter((name) => name.endsWith(suffix));
      } catch (error) {
        return errnoOf(error) === "ENOENT" ? ok({ records: [], damaged: [] }) : failed(failure(root, error));
      }
      const records: DeviceRecord[] = [];
      const damaged: DamagedRecord[] = [];
      for (const name of names) {
        const record = readOne(join(root, name));
        if (!record.ok) damaged.push({ ...keyIn(name), fault: record.fault });
        else if (record.value !== undefined) records.push(record.value);
      }
      return ok({ records, damaged });
    },
    save: (record) => {
      const made = exists(true);
      return made.ok ? writeDurably(pathOf(record), JSON.stringify(record)) : made;
    },
    remove: (key) => removeFile(pathOf(key)),
  };
}

/** No part contains `:`: container IDs have none by CNI's rules, and the kernel refuses the character in a link's name. */
function fileName({ containerId, ifname, podName }: DeviceKey): string {
  return `${containerId}:${ifname}:${podName}${suffix}`;
}

function keyIn(name: string): DeviceKey {
  const [containerId = "", ifname = "", podName = ""] = name.slice(0, -suffix.length).split(":");
  return { containerId, ifname, podName };
}

function readOne(path: string): Result<DeviceRecord | undefined> {
  try {
    const record = readRecord(readRegularFile(path, { maxBytes, foreign: false }));
    return record === undefined
      ? failed(
          fault(
            "STORE_FAILED",
            `links: ${path} is not the record of a device; remove it after a look at the device's name and namespace`,
          ),
        )
      : ok(record);
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? ok(undefined) : failed(failure(path, error));
  }
}

const walkFaults = {
  unsafe: (path: string, what: string): Fault => fault("STORE_UNSAFE", `links: ${path} ${what}`),
  failed: failure,
};

function failure(path: string, error: unknown): Fault {
  return fault("STORE_FAILED", `links: ${path}: ${error instanceof Error ? error.message : String(error)}`);
}
