// The networks that clients have set on this node: one file each in the directory `networks` of the state directory. The engine reads a file when a
// configuration names its network, so a change counts for the next call.

import { join } from "node:path";
import { checkNetworkName } from "../../../src/cni/attachment.ts";
import type { NetworkList } from "../../../src/cni/network-list.ts";
import { listOfStored, maxStoredBytes, readStoredDocument } from "../../../src/cni/stored-list.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { storeFault } from "../files/durable-file.ts";
import { errnoOf } from "../files/errno.ts";
import { readRegularFile } from "../files/regular-file.ts";

/** The end of a file's name. */
export const networkFileEnd = ".json";

/** The directory of the networks. */
export function networksDirectory(stateDirectory: string): string {
  return join(stateDirectory, "networks");
}

/** The path of a network's file. */
export function networkPath(stateDirectory: string, networkName: string): string {
  return join(networksDirectory(stateDirectory), `${networkName}${networkFileEnd}`);
}

/**
 * The list of the network with this name for CNI; undefined if no client has set one. Fault STORE_FAILED: a damaged file is not passed over, because
 * the pod would get another network of that name.
 */
export function setNetworkList(stateDirectory: string, networkName: string): Result<NetworkList | undefined> {
  return readNetworkFile(stateDirectory, networkName, (text, path) => {
    const document = readStoredDocument(text, path);
    return document.ok ? listOfStored(document.value, path, networkName) : document;
  });
}

/** Reads a network's file with `read`, which gets the file's text and path; undefined if there is no file. Faults: STORE_FAILED, and those of `read`. */
export function readNetworkFile<T>(
  stateDirectory: string,
  networkName: string,
  read: (text: string, path: string) => Result<T>,
): Result<T | undefined> {
  // The name becomes a part of a path.
  if (!checkNetworkName(networkName).ok) return ok(undefined);
  const path = networkPath(stateDirectory, networkName);
  try {
    return read(readRegularFile(path, { maxBytes: maxStoredBytes, foreign: false }), path);
  } catch (error) {
    const errno = errnoOf(error);
    // No file has a name that is too long.
    return errno === "ENOENT" || errno === "ENAMETOOLONG" ? ok(undefined) : failed(storeFault("reading", path, error));
  }
}
