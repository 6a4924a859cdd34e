// The device information file that an attachment's plugins and Plexus exchange: created before the chain, read after it, removed
// with the attachment. Other programs read it too, so file and directory are world-readable.

import { closeSync, constants, openSync, readSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { makeDirectory } from "../../store/files/make-directory.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import {
  type DeviceInfo,
  maxDeviceInfoLength,
  readDeviceInfo,
  attachmentFile,
  type DeviceInfoFiles,
} from "../../../src/npwg/device-info.ts";
import { removeFile, storeFault } from "../../store/files/durable-file.ts";
import { errnoOf } from "../../store/files/errno.ts";

/**
 * Creates the directory (0755, whatever the umask) and, if there is a device plugin's file, a copy of it. Removes the file of an
 * earlier attachment. `unread` gets the fault of an unreadable device plugin's file, because plugins can work without it. Fault
 * STORE_FAILED: the file cannot be placed there.
 */
export function prepareDeviceInfo({ path, allocated, content }: DeviceInfoFiles, unread: (cause: Fault) => void): Result<void> {
  const directory = dirname(path);
  try {
    makeDirectory(directory, 0o755);
  } catch (error) {
    return failed(storeFault("making", directory, error));
  }
  const removed = removeFile(path);
  if (!removed.ok) return removed;
  const text = allocated === undefined ? ok(undefined) : readBounded(allocated);
  if (!text.ok) unread(text.fault);
  const first = (text.ok ? text.value : undefined) ?? content;
  if (first === undefined) return ok(undefined);
  try {
    writeFileSync(path, first, { flag: "wx", mode: 0o644 });
    return ok(undefined);
  } catch (error) {
    return failed(storeFault("writing", path, error));
  }
}

/** The file's content after the chain; undefined if no plugin wrote a file. Faults: DEVICE_INFO_INVALID, STORE_FAILED. */
export function readDeviceInfoFile(path: string): Result<DeviceInfo | undefined> {
  const text = readBounded(path);
  if (!text.ok || text.value === undefined) return text.ok ? ok(undefined) : text;
  return readDeviceInfo(text.value, path);
}

/** Removes an attachment's file, if any. */
export function removeDeviceInfo(containerId: string, ifname: string): Result<void> {
  return removeFile(attachmentFile(containerId, ifname));
}

/** Reads one byte more than a valid file may have. Non-blocking, so that a pipe or device in the file's place cannot block. */
function readBounded(path: string): Result<string | undefined> {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const bytes = Buffer.alloc(maxDeviceInfoLength * 3 + 1);
      let length = 0;
      for (let read = -1; read !== 0 && length < bytes.length; length += read)
        read = readSync(file, bytes, length, bytes.length - length, null);
      return ok(bytes.toString("utf8", 0, length));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? ok(undefined) : failed(storeFault("reading", path, error));
  }
}
