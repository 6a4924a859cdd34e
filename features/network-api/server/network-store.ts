// The files of networks that clients of the CRI Network API have set (host/store/networks/set-network.ts). Only the daemon writes them.

import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { maxStoredBytes } from "../../../src/cni/stored-list.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { printStoredNetwork, readStoredNetwork, type StoredNetwork } from "../rules/stored-network.ts";
import { removeFile, removeTornWrites, storeFault, syncDirectory, writeDurably } from "../../../host/store/files/durable-file.ts";
import { errnoOf } from "../../../host/store/files/errno.ts";
import { readRegularFile } from "../../../host/store/files/regular-file.ts";
import { networkFileEnd, networkPath, networksDirectory, readNetworkFile } from "../../../host/store/networks/set-network.ts";

/** The networks in a directory, and a fault for each file that cannot be read. */
export interface StoredNetworks {
  readonly networks: readonly StoredNetwork[];
  readonly problems: readonly string[];
}

/** All networks, by name for CNI. Removes the temporary files of interrupted writes. */
export function readNetworks(stateDirectory: string): StoredNetworks {
  const directory = networksDirectory(stateDirectory);
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
    if (!name.endsWith(networkFileEnd)) continue;
    const read = readOne(stateDirectory, name.slice(0, -networkFileEnd.length));
    if (!read.ok) problems.push(read.fault.msg);
    else if (read.value !== undefined) networks.push(read.value);
  }
  return { networks, problems };
}

/** Whether the network's file has exactly this network: another program may have removed or changed it. */
export function isStored(stateDirectory: string, network: StoredNetwork): boolean {
  try {
    const text = readRegularFile(networkPath(stateDirectory, network.config.networkName), {
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
  return writeDurably(networkPath(stateDirectory, network.config.networkName), printStoredNetwork(network));
}

/** Removes a network durably. A missing network counts as removed. Fault STORE_FAILED. */
export function removeNetwork(stateDirectory: string, networkName: string): Result<void> {
  const path = networkPath(stateDirectory, networkName);
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
  return readNetworkFile(stateDirectory, networkName, (text, path) => readStoredNetwork(text, path, networkName));
}
