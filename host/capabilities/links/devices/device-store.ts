// The records of taken devices: a file for each, in a directory of the node. The kit and unit tests keep them in memory.

import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fault, type Fault } from "../../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../../src/fault/result.ts";
import { removeFile, writeDurably } from "../../../store/files/durable-file.ts";
import { errnoOf } from "../../../store/files/errno.ts";
import { readRegularFile } from "../../../store/files/regular-file.ts";
import { walkDirectories } from "../../../store/files/walk-directories.ts";
import { type DeviceKey, type DeviceRecord, readRecord } from "./device-record.ts";
import { type DeviceHolder, type FunctionKey, type FunctionRecord, readFunctionRecord } from "./function-record.ts";

/** A record's file that cannot be read. Its name tells the attachment and the device's name in the pod. */
export interface DamagedRecord extends DeviceKey {
  /** Why, with the file and the remedy. */
  readonly fault: Fault;
}

/** All records of one kind on a node. */
export interface Records<R> {
  readonly records: readonly R[];
  readonly damaged: readonly DamagedRecord[];
}

/** Records of one kind. Faults: STORE_FAILED, STORE_UNSAFE. */
export interface RecordStore<Key, R extends Key> {
  readonly load: (key: Key) => Result<R | undefined>;
  readonly list: () => Result<Records<R>>;
  readonly save: (record: R) => Result<void>;
  readonly remove: (key: Key) => Result<void>;
}

/** The records of all devices that attachments of this node have. */
export interface DeviceStore extends RecordStore<DeviceKey, DeviceRecord> {
  /** The earlier settings of their virtual functions. */
  readonly functions: RecordStore<FunctionKey, FunctionRecord>;
}

/** Maximum size of a record's file. A device has few addresses, each of at most some hundred bytes. */
const maxBytes = 262_144;
const mode = 0o700;

/** The store on files of a directory, which is made with the first record. */
export function deviceFiles(directory: string): DeviceStore {
  const root = resolve(directory);
  return {
    ...recordFiles<DeviceKey, DeviceRecord>(root, ".json", ({ podName }) => podName, readRecord),
    functions: recordFiles<FunctionKey, FunctionRecord>(
      root,
      ".vf",
      ({ pciAddress }) => pciAddress.replaceAll(":", "-"),
      readFunctionRecord,
    ),
  };
}

/** `lastPart` and `suffix`: the end of a file's name. */
function recordFiles<Key extends DeviceHolder, R extends Key>(
  root: string,
  suffix: string,
  lastPart: (key: Key) => string,
  read: (text: string) => R | undefined,
): RecordStore<Key, R> {
  const exists = (make: boolean): Result<boolean> => walkDirectories(root, root, make ? mode : undefined, walkFaults);
  // No part contains `:`: container IDs have none by CNI's rules, and the kernel refuses the character in a link's name.
  const pathOf = (key: Key): string => join(root, `${key.containerId}:${key.ifname}:${lastPart(key)}${suffix}`);
  return {
    load: (key) => readOne(pathOf(key), read),
    list: () => {
      const there = exists(false);
      if (!there.ok) return there;
      let names: readonly string[];
      try {
        names = readdirSync(root).filter((name) => name.endsWith(suffix));
      } catch (error) {
        return errnoOf(error) === "ENOENT" ? ok({ records: [], damaged: [] }) : failed(failure(root, error));
      }
      const records: R[] = [];
      const damaged: DamagedRecord[] = [];
      for (const name of names) {
        const record = readOne(join(root, name), read);
        if (!record.ok) damaged.push({ ...keyIn(name.slice(0, -suffix.length)), fault: record.fault });
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

function keyIn(name: string): DeviceKey {
  const [containerId = "", ifname = "", podName = ""] = name.split(":");
  return { containerId, ifname, podName };
}

function readOne<R>(path: string, read: (text: string) => R | undefined): Result<R | undefined> {
  try {
    const record = read(readRegularFile(path, { maxBytes, foreign: false }));
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
