// The file by which an attachment's plugins and Plexus exchange device information: made before the chain, read after it,
// removed with the attachment. Other programs read it too, so file and directory are for everybody to read.

import { chmodSync, closeSync, constants, openSync, readSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { makeDirectory } from "../files/make-directory.ts";
import type { Fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { type DeviceInfo, longestDeviceInfo, readDeviceInfo } from "../../src/npwg/device-info.ts";
import { attachmentFile, type DeviceInfoFiles } from "../../src/npwg/device-info-files.ts";
import { removeFile, storeFault } from "../files/durable-file.ts";
import { errnoOf } from "../files/errno.ts";

/**
 * Makes the directory (0755, whatever the umask), and the file a copy of the device plugin's where there is one. A file that
 * an earlier attachment left is gone then. `unread` is told of a device plugin's file that can't be read: plugins can do
 * without. Fault STORE_FAILED: there is no place for the file.
 */
export function prepareDeviceInfo({ path, allocated }: DeviceInfoFiles, unread: (cause: Fault) => void): Result<void> {
  const directory = dirname(path);
  try {
    if (makeDirectory(directory, 0o755)) chmodSync(directory, 0o755);
  } catch (error) {
    return failed(storeFault("making", directory, error));
  }
  const removed = removeFile(path);
  if (!removed.ok) return removed;
  if (allocated === undefined) return ok(undefined);
  const text = readBounded(allocated);
  if (!text.ok) unread(text.fault);
  if (!text.ok || text.value === undefined) return ok(undefined);
  try {
    writeFileSync(path, text.value, { flag: "wx", mode: 0o644 });
    return ok(undefined);
  } catch (error) {
    return failed(storeFault("writing", path, error));
  }
}

/** What the file says after the chain; undefined where nobody wrote one. Faults: DEVICE_INFO_INVALID, STORE_FAILED. */
export function readDeviceInfoFile(path: string): Result<DeviceInfo | undefined> {
  const text = readBounded(path);
  if (!text.ok || text.value === undefined) return text.ok ? ok(undefined) : text;
  return readDeviceInfo(text.value, path);
}

/** Removes an attachment's file, whether it has one or not. */
export function removeDeviceInfo(containerId: string, ifname: string): Result<void> {
  return removeFile(attachmentFile(containerId, ifname));
}

/** At most what a valid file may have and a byte more; a pipe or device that somebody put there is not waited for. */
function readBounded(path: string): Result<string | undefined> {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const bytes = Buffer.alloc(longestDeviceInfo * 3 + 1);
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
