// The networks of this node, for the CRI Network API: those that clients have set, and the first network on the disk as `_fallback`.

import type { NetworkList } from "../../../src/cni/network-list.ts";
import { findDirectoryNetwork } from "../../../src/configuration/directory-network.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { fromConflist } from "../rules/from-conflist.ts";
import {
  fallbackName,
  type NetworkConfig,
  networkKey,
  networkMessage,
  type NetworkMetadata,
  readNetworkConfig,
  readNetworkMetadata,
} from "../rules/network-config.ts";
import { replacementOf } from "../rules/replacement.ts";
import type { StoredNetwork } from "../rules/stored-network.ts";
import { maxListBytes, toConflist } from "../rules/to-conflist.ts";
import { readConfigurationDirectory } from "../../../host/store/files/configuration-directory.ts";
import { isStored, readNetworks, removeNetwork, writeNetwork } from "./network-store.ts";
import { setNetworkList } from "../../../host/store/networks/set-network.ts";

/** A change of the networks. */
export interface NetworkChange {
  readonly type: "ADDED" | "MODIFIED" | "REMOVED";
  readonly config: NetworkConfig;
}

/** Maximum networks of a node. All of them fit into one gRPC message. */
export const maxNetworks = 100;
/** Interval between looks at the network on the disk while clients watch, in ms. */
const intervalMs = 1000;

/** The networks of one node. All changes go through this object, one after the other. */
export class NodeNetworks {
  readonly #stateDirectory: string;
  /** The runtime's directory of network configurations. */
  readonly #configurationDirectory: string;
  /** File name of the network on the disk; undefined: the directory's first network. */
  readonly #pinned: string | undefined;
  readonly #networks = new Map<string, StoredNetwork>();
  readonly #listeners = new Set<(change: NetworkChange) => void>();
  /** The network on the disk as the listeners know it. */
  #seenFallback: NetworkConfig | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** Reads the stored networks. A damaged file is reported and left alone; calls that name its network fail. */
  constructor(stateDirectory: string, configurationDirectory: string, pinned: string | undefined, warn: (text: string) => void) {
    this.#stateDirectory = stateDirectory;
    this.#configurationDirectory = configurationDirectory;
    this.#pinned = pinned;
    const { networks, problems } = readNetworks(stateDirectory);
    for (const network of networks) this.#networks.set(networkKey(network.config.metadata), network);
    for (const problem of problems) warn(`a network of the CRI Network API cannot be used: ${problem}`);
  }

  /**
   * Creates or replaces a network, durably; answers warnings. Faults: NETWORK_CONFIG_INVALID, NETWORK_OUTDATED, NETWORK_NAME_TAKEN, BOUND_EXCEEDED,
   * STORE_FAILED.
   */
  set(message: unknown): Result<readonly string[]> {
    const config = readNetworkConfig(message);
    if (!config.ok) return config;
    const key = networkKey(config.value.metadata);
    const stored = this.#networks.get(key);
    const translated = toConflist(config.value);
    if (!translated.ok) return translated;
    const others = [...this.#networks].filter(([name]) => name !== key).map(([, network]) => network.config);
    const replacement = replacementOf(config.value, stored?.config, others);
    if (!replacement.ok) return replacement;
    if (stored === undefined && this.#networks.size >= maxNetworks)
      return failed(fault("BOUND_EXCEEDED", `network ${key}: the node has ${maxNetworks} networks, which is the maximum`));
    const { list, warnings } = translated.value;
    const unchanged = replacement.value === "unchanged";
    if (unchanged && stored !== undefined && isStored(this.#stateDirectory, stored)) return ok(warnings);
    const network = { config: config.value, list };
    const written = writeNetwork(this.#stateDirectory, network);
    if (!written.ok) return written;
    this.#networks.set(key, network);
    if (unchanged) return ok(warnings);
    this.#tell({ type: stored === undefined ? "ADDED" : "MODIFIED", config: config.value });
    return ok(warnings);
  }

  /**
   * Removes a network, durably; a missing network counts as removed. Faults: NETWORK_CONFIG_INVALID, NETWORK_OUTDATED, and STORE_FAILED, also for a
   * damaged file of the name, with which sandboxes still fail.
   */
  remove(message: unknown): Result<void> {
    const metadata = readNetworkMetadata(message);
    if (!metadata.ok) return metadata;
    const key = networkKey(metadata.value);
    const stored = this.#networks.get(key);
    if (stored === undefined) {
      const left = setNetworkList(this.#stateDirectory, metadata.value.name);
      return left.ok ? ok(undefined) : left;
    }
    const { uid } = stored.config.metadata;
    if (metadata.value.uid !== "" && metadata.value.uid !== uid)
      return failed(fault("NETWORK_OUTDATED", `network ${key} has the uid ${uid}, not ${metadata.value.uid}`));
    const removed = removeNetwork(this.#stateDirectory, stored.config.networkName);
    if (!removed.ok) return removed;
    this.#networks.delete(key);
    this.#tell({ type: "REMOVED", config: stored.config });
    return ok(undefined);
  }

  /** All networks by key, the network on the disk first. The directory is read anew. */
  list(): readonly StoredNetwork[] {
    const fallback = this.fallback();
    const set = [...this.#networks].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, network]) => network);
    return fallback === undefined ? set : [fallback, ...set];
  }

  /** The network on the disk; undefined if the directory has no usable one. */
  fallback(): StoredNetwork | undefined {
    const directory = readConfigurationDirectory(this.#configurationDirectory);
    const found = directory.ok ? findDirectoryNetwork(directory.value, { pinned: this.#pinned, plexusTypes: [] }) : directory;
    if (!found.ok) return undefined;
    const { list } = found.value;
    const config = fromConflist(fallbackMetadata, list);
    return { config: isShort(list) ? config : { ...config, plugins: [] }, list };
  }

  /** Calls `listener` after each change by a client or of the network on the disk, until the returned function is called. */
  watch(listener: (change: NetworkChange) => void): () => void {
    if (this.#listeners.size === 0) {
      this.#seenFallback = this.fallback()?.config;
      this.#timer = setInterval(() => this.#compareFallback(), intervalMs).unref();
    } else this.#compareFallback();
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) clearInterval(this.#timer);
    };
  }

  /** Tells a change of the network on the disk: one look at the directory serves all listeners. */
  #compareFallback(): void {
    const [last, now] = [this.#seenFallback, this.fallback()?.config];
    if (textOf(now) === textOf(last)) return;
    this.#seenFallback = now;
    if (now !== undefined) this.#tell({ type: last === undefined ? "ADDED" : "MODIFIED", config: now });
    else if (last !== undefined) this.#tell({ type: "REMOVED", config: last });
  }

  #tell(change: NetworkChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}

const fallbackMetadata: NetworkMetadata = { name: fallbackName, namespace: "", uid: "", generation: 0 };

function textOf(config: NetworkConfig | undefined): string | undefined {
  return config && JSON.stringify(networkMessage(config));
}

/** A file may have 4 MiB, which is too long for the answer with all networks: such a network is listed without its plugins. */
function isShort({ plugins }: NetworkList): boolean {
  return plugins.reduce((sum, { document }) => sum + Buffer.byteLength(document.text), 0) <= maxListBytes;
}
