// Feeds the NetworkAttachmentDefinitions of one namespace to a server of the CRI Network API (CR-17): Plexus' own, or that of another runtime.

import { isJsonObject } from "../../../src/json/document.ts";
import { type NetworkConfig, networkKey, networkMessage } from "../rules/network-config.ts";
import { listedNetworks, networkInFile } from "../rules/network-file.ts";
import { readNetworkAttachmentDefinition } from "../../../src/npwg/network-attachment-definition.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import type { Connection } from "../../../host/cluster/kube/connection.ts";
import type { CredentialSource } from "../../../host/cluster/kube/credentials.ts";
import type { StoredObject } from "../../../host/cluster/kube/object-store.ts";
import { Reflector } from "../../../host/cluster/kube/reflector.ts";
import { NetworkApiClient } from "./rpc-client.ts";

/** Settings of a feed. */
export interface NetworkFeedInit {
  readonly connection: Connection;
  readonly credentials: CredentialSource;
  /** Absolute path of the server's socket. */
  readonly socket: string;
  /** The namespace of the definitions. Its authors decide about the node's networks. */
  readonly namespace: string;
  readonly warn: (text: string) => void;
}

/** A definition with its version. */
interface FedDefinition {
  readonly config: string | undefined;
  readonly uid: string;
  readonly generation: number;
  /** Why the definition cannot be fed. */
  readonly problem: string | undefined;
}

/** Pause after a change, in which further ones are collected, in ms. */
const collectMs = 100;
/** Interval between comparisons, in ms: the server may have been started anew, or refused a network. */
const intervalMs = 15_000;
/** Maximum length of a warning, in UTF-16 units. */
const maxLine = 1024;
/** Maximum length of a configuration that is read: a network's list has at most 32 KiB. */
const maxConfig = 60 * 1024;
const bounds = { maxObject: 64 * 1024, maxTotal: 8 * 1024 * 1024 };

/** Keeps a server's networks of one namespace equal to the definitions. */
export class NetworkFeed {
  readonly #init: NetworkFeedInit;
  readonly #definitions: Reflector<FedDefinition>;
  readonly #client: NetworkApiClient;
  /** The last warning of each network: a repeated one is not logged. */
  #warned: ReadonlyMap<string, string> = new Map();
  #timer: NodeJS.Timeout | undefined;
  #working = false;
  /** Whether a definition changed during a comparison. */
  #changedMeanwhile = false;
  #ended = false;

  constructor(init: NetworkFeedInit) {
    this.#init = init;
    this.#client = new NetworkApiClient(init.socket);
    this.#definitions = new Reflector<FedDefinition>({
      what: `NetworkAttachmentDefinitions of namespace ${init.namespace}`,
      connection: init.connection,
      credentials: init.credentials,
      path: `/apis/k8s.cni.cncf.io/v1/namespaces/${init.namespace}/network-attachment-definitions`,
      query: {},
      metadataOnly: false,
      consistent: true,
      bounds,
      read: storedDefinition,
      onChange: () => {
        this.#changedMeanwhile = true;
        this.#after(collectMs);
      },
      whileNotWatched: "the fed networks stay as they are",
      warn: init.warn,
    });
  }

  start(): void {
    this.#definitions.start();
    this.#after(collectMs);
  }

  stop(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#definitions.stop();
    this.#client.close();
  }

  #after(ms: number): void {
    if (this.#ended || this.#working) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#compare(), ms).unref();
  }

  /** Sets and removes what differs. */
  async #compare(): Promise<void> {
    this.#working = true;
    this.#changedMeanwhile = false;
    const warnings = new Map<string, string>();
    try {
      // An object is absent only from a complete list.
      if (this.#definitions.complete) await this.#apply(warnings);
    } catch (error) {
      warnings.set("", error instanceof Error ? error.message : String(error));
    }
    // The closed client's failures say nothing about the server.
    if (this.#ended) return;
    for (const [key, text] of warnings)
      if (this.#warned.get(key) !== text) this.#init.warn(inertLine(`network feed: ${text}`, maxLine));
    this.#warned = warnings;
    this.#working = false;
    this.#after(this.#changedMeanwhile ? collectMs : intervalMs);
  }

  async #apply(warnings: Map<string, string>): Promise<void> {
    const list = await this.#client.call("ListPodNetwork", { without_status: true });
    if (!list.ok) {
      warnings.set("", list.failure.message);
      return;
    }
    const listed = new Map(
      listedNetworks(list.value)
        .filter(({ metadata }) => metadata.namespace === this.#init.namespace)
        .map((config) => [networkKey(config.metadata), config]),
    );
    const wanted = new Set<string>();
    for (const definition of this.#definitions.stored()) {
      if (this.#ended) return;
      const network = networkOf(definition);
      const key = `${definition.namespace}/${definition.name}`;
      // An unreadable definition keeps the network that it had.
      wanted.add(key);
      if (typeof network === "string") warnings.set(key, network);
      else if (network !== undefined && !isSameVersion(network, listed.get(key))) {
        await this.#replace(network, listed.get(key), warnings);
      }
    }
    for (const [key, { metadata }] of listed) {
      // A network without a uid is an administrator's own.
      if (wanted.has(key) || metadata.uid === "") continue;
      const removed = await this.#client.call("RemovePodNetwork", { metadata });
      if (!removed.ok) warnings.set(key, removed.failure.message);
    }
  }

  /** Sets the network. A definition that was deleted and made anew with another name for CNI is another network: the earlier one goes first. */
  async #replace(network: NetworkConfig, before: NetworkConfig | undefined, warnings: Map<string, string>): Promise<void> {
    const isOther = before !== undefined && before.metadata.uid !== "" && before.metadata.uid !== network.metadata.uid;
    if (isOther && before.networkName !== network.networkName) {
      const removed = await this.#client.call("RemovePodNetwork", { metadata: before.metadata });
      if (!removed.ok) return void warnings.set(networkKey(before.metadata), removed.failure.message);
    }
    await this.#set(network, warnings);
  }

  async #set(network: NetworkConfig, warnings: Map<string, string>): Promise<void> {
    const set = await this.#client.call("SetPodNetwork", { config: networkMessage(network) });
    if (!set.ok) warnings.set(networkKey(network.metadata), set.failure.message);
  }
}

function isSameVersion({ metadata: { uid, generation } }: NetworkConfig, listed: NetworkConfig | undefined): boolean {
  return listed?.metadata.uid === uid && listed.metadata.generation === generation;
}

/** The definition's network; undefined if it has no configuration; a text about a mistake. */
function networkOf({ namespace, name, value }: StoredObject<FedDefinition>): NetworkConfig | string | undefined {
  const { config, uid, generation, problem } = value;
  if (config === undefined) return problem;
  const what = `NetworkAttachmentDefinition ${namespace}/${name}`;
  const network = networkInFile(config, what, { name: undefined, namespace, ranges: [], unnamed: name });
  if (!network.ok) return network.fault.msg;
  return { ...network.value, metadata: { name, namespace, uid, generation } };
}

/** A definition that cannot be fed is stored without its configuration: one of them must not end the feed of the others. */
function storedDefinition(object: unknown): StoredObject<FedDefinition> | undefined {
  const metadata = isJsonObject(object) ? object["metadata"] : undefined;
  if (!isJsonObject(metadata)) return undefined;
  const [namespace, name] = [String(metadata["namespace"] ?? ""), String(metadata["name"] ?? "")];
  const definition = readNetworkAttachmentDefinition(object);
  const read = definition.ok ? definition.value.config : undefined;
  const isLong = read !== undefined && read.length > maxConfig;
  const long = `NetworkAttachmentDefinition ${namespace}/${name} has more than ${maxConfig} characters in spec.config`;
  const problem = definition.ok ? (isLong ? long : undefined) : definition.fault.msg;
  const config = isLong ? undefined : read;
  const value = { config, uid: String(metadata["uid"] ?? ""), generation: Number(metadata["generation"] ?? 1), problem };
  return { namespace, name, value, size: name.length + (config?.length ?? 0) };
}
