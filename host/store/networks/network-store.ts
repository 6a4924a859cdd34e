// The networks that clients of the CRI Network API have set: one file each in the directory `networks` of the state directory. The daemon writes
// the files. The engine reads a file when a configuration names its network, so a change counts for the next call.

import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkNetworkName } from "../../../src/cni/names.ts";
import type { NetworkList } from "../../../src/cni/network-list.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import {
  maxStoredBytes,
  printStoredNetwork,
  readStoredNetwork,
  type StoredNetwork,
} from "../../../src/network-api/stored-network.ts";
import { removeFile, removeTornWrites, storeFault, syncDirectory, writeDurably } from "../files/durable-file.ts";
import { errnoOf } from "../files/errno.ts";
import { readRegularFile } from "../files/regular-file.ts";

const extension = ".json";

/** The networks in a directory, and a fault for each file that cannot be read. */
export interface StoredNetworks {
  readonly networks: readonly StoredNetwork[];
  readonly problems: readonly string[];
}

/** The directory of the networks. */
function directoryIn(stateDirectory: string): string {
  return join(stateDirectory, "networks");
}

function pathOf(stateDirectory: string, networkName: string): string {
  return join(directoryIn(stateDirectory), `${networkName}${extension}`);
}

/**
 * The list of the network with this name for CNI; undefined if no client has set one. Fault STORE_FAILED: a damaged file is not passed over, because
 * the pod would get another network of that name.
 */
export function setNetworkList(stateDirectory: string, networkName: string): Result<NetworkList | undefined> {
  const read = readOne(stateDirectory, networkName);
  return read.ok ? ok(read.value?.list) : read;
}

/** All networks, by name for CNI. Removes the temporary files of interrupted writes. */
export function readNetworks(stateDirectory: string): StoredNetworks {
  const directory = directoryIn(stateDirectory);
  removeTornWrites(directory);
  let names: readonly string[];
  try {
    names = readdirSync(directory).toSorted();
  } catch (error) {
    return { networks: [], problems: errnoOf(error) === "ENOENT" ? [] : [storeFault("listing", directory, error).msg] };
  }
  const networks: StoredNetwork[] = [];
  const problems: string[] = [];
  for (const name of names) {
    if (!name.endsWith(extension)) continue;
    const read = readOne(stateDirectory, name.slice(0, -extension.length));
    if (!read.ok) problems.push(read.fault.msg);
    else if (read.value !== undefined) networks.push(read.value);
  }
  return { networks, problems };
}

/** Whether the network's file has exactly this network: another program may have removed or changed it. */
export function isStored(stateDirectory: string, network: StoredNetwork): boolean {
  try {
    const text = readRegularFile(pathOf(stateDirectory, network.config.networkName), {
      maxBytes: maxStoredBytes,
      foreign: false,
    });
    return text === printStoredNetwork(network);
  } catch {
    // The next write reports what is wrong.
    return false;
  }
}

/** Stores a network durably: it survives a power loss after the return. Fault STORE_FAILED. */
export function writeNetwork(stateDirectory: string, network: StoredNetwork): Result<void> {
  return writeDurably(pathOf(stateDirectory, network.config.networkName), printStoredNetwork(network));
}

/** Removes a network durably. A missing network counts as removed. Fault STORE_FAILED. */
export function removeNetwork(stateDirectory: string, networkName: string): Result<void> {
  const path = pathOf(stateDirectory, networkName);
  const removed = removeFile(path);
  if (!removed.ok) return removed;
  try {
    syncDirectory(dirname(path));
    return ok(undefined);
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? ok(undefined) : failed(storeFault("removing", path, error));
  }
}

function readOne(stateDirectory: string, networkName: string): Result<StoredNetwork | undefined> {
  // The name becomes a part of a path.
  if (!checkNetworkName(networkName).ok) return ok(undefined);
  const path = pathOf(stateDirectory, networkName);
  try {
    return readStoredNetwork(readRegularFile(path, { maxBytes: maxStoredBytes, foreign: false }), path, networkName);
  } catch (error) {
    const errno = errnoOf(error);
    // No file has a name that is too long.
    return errno === "ENOENT" || errno === "ENAMETOOLONG" ? ok(undefined) : failed(storeFault("reading", path, error));
  }
}
