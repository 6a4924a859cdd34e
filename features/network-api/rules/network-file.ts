// A network in a file of an administrator: a NetworkConfig message, or a configuration of CNI.

import { inlineNetwork } from "../../../src/cni/inline-network.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, type Result } from "../../../src/fault/result.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { fromConflist } from "./from-conflist.ts";
import { type NetworkConfig, networkMessage, readNetworkConfig } from "./network-config.ts";

/** The members of a network that a CNI configuration lacks. */
export interface NetworkFileSettings {
  /** The network's name; undefined: the configuration's. */
  readonly name: string | undefined;
  readonly namespace: string;
  readonly ranges: readonly string[];
  /** The name of a configuration without one, besides `name`. */
  readonly unnamed?: string;
}

/** The network in a JSON text. `what` names the file. Faults: NETWORK_CONFIG_INVALID, CONFIG_NOT_JSON, CONFIG_INVALID. */
export function networkInFile(
  text: string,
  what: string,
  { name, namespace, ranges, unnamed = "" }: NetworkFileSettings,
): Result<NetworkConfig> {
  const value = parsed(text);
  if (isJsonObject(value) && value["cniv1_config"] !== undefined) {
    if (name === undefined && namespace === "" && ranges.length === 0) return readNetworkConfig(value);
    return failed(fault("NETWORK_CONFIG_INVALID", `${what} is a message, which has its own name, namespace and ranges`));
  }
  const list = inlineNetwork(text, what, { name: name ?? unnamed, cniVersion: "" });
  if (!list.ok) return list;
  const metadata = { name: name ?? list.value.name, namespace, uid: "", generation: 0 };
  // The rules of a message hold for this network, too.
  return readNetworkConfig(networkMessage({ ...fromConflist(metadata, list.value), ipRanges: ranges }));
}

/**
 * The network with the metadata of its next version. `listed`: the node's network of this name. Undefined if the node has the network as it is.
 */
export function nextVersion(wanted: NetworkConfig, listed: NetworkConfig | undefined): NetworkConfig | undefined {
  if (wanted.metadata.generation > 0) return wanted;
  if (listed === undefined) return { ...wanted, metadata: { ...wanted.metadata, generation: 1 } };
  const { uid, generation } = listed.metadata;
  const same = { ...wanted, metadata: listed.metadata };
  if (JSON.stringify(networkMessage(same)) === JSON.stringify(networkMessage(listed))) return undefined;
  return { ...wanted, metadata: { ...wanted.metadata, uid: wanted.metadata.uid || uid, generation: generation + 1 } };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The networks in the answer of ListPodNetwork. A network that this release cannot read is left out. */
export function listedNetworks(answer: object): readonly NetworkConfig[] {
  const networks: readonly unknown[] = "networks" in answer && Array.isArray(answer.networks) ? answer.networks : [];
  return networks.flatMap((each) => {
    const config = isJsonObject(each) ? readNetworkConfig(each["config"]) : undefined;
    return config?.ok === true ? [config.value] : [];
  });
}
