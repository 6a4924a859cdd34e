// The further networks that an administrator gives to pods: the further elements of `delegates`, `defaultNetworks`, and the auxiliary
// chain.

import { dirname, join } from "node:path";
import { filesWith } from "../../../src/cni/config-directory.ts";
import { type NetworkList, parseNetworkList } from "../../../src/cni/network-list.ts";
import { readResult } from "../../../src/cni/read-result.ts";
import type { PluginResult } from "../../../src/cni/result.ts";
import { toVersion, versionAtLeast } from "../../../src/cni/versions.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { defaultNetworksAnnotation } from "../../../src/npwg/extension-keys.ts";
import type { Pod } from "../../cluster/cluster.ts";
import { readConfigurationDirectory, withSubdirectoryPlugins } from "../../store/files/configuration-directory.ts";
import type { PlanContext } from "../call.ts";
import { readFurtherDelegates } from "./default-network.ts";
import { namedNetwork } from "./named-network.ts";
import type { PodIdentity } from "../../../src/kube/pod-identity.ts";

/** A network that the administrator gives to a pod. The fields mean the same as in `AttachmentPlan`. */
export interface FurtherNetwork {
  readonly source: string;
  readonly statusName: string | undefined;
  readonly list: NetworkList;
  readonly previous?: PluginResult;
}

/** The further networks of a pod, in the order in which they are attached. */
export async function furtherNetworks(
  call: PlanContext,
  identity: PodIdentity | undefined,
  pod: Pod | undefined,
): Promise<Result<readonly FurtherNetwork[]>> {
  const delegates = readFurtherDelegates(call);
  if (!delegates.ok) return delegates;
  const networks: FurtherNetwork[] = delegates.value.map((list, index) => ({
    source: `delegates[${index + 1}]`,
    statusName: list.name,
    list,
  }));
  const named = namesFor(call, identity, pod);
  if (!named.ok) return named;
  for (const [index, name] of named.value.entries()) {
    const network = await namedNetwork(call, `defaultNetworks[${index}]`, name);
    if (!network.ok) return network;
    networks.push({ ...network.value, source: network.value.defined ? network.value.statusName : `defaultNetworks[${index}]` });
  }
  return ok(networks);
}

/**
 * The names in `defaultNetworks` for this pod. A container that is not a pod gets none: nothing distinguishes it from a system
 * container.
 */
function namesFor(
  { configuration }: PlanContext,
  identity: PodIdentity | undefined,
  pod: Pod | undefined,
): Result<readonly string[]> {
  const annotation = pod?.annotations.get(defaultNetworksAnnotation);
  if (annotation !== undefined && annotation !== "none") {
    return failed(
      fault("SELECTION_INVALID", `annotation ${defaultNetworksAnnotation} can be "none" only, but is ${quote(annotation, 60)}`),
    );
  }
  const none = annotation === "none" || identity === undefined || configuration.systemNamespaces.includes(identity.namespace);
  return ok(none ? [] : configuration.defaultNetworks);
}

/**
 * The auxiliary chain: the files in the directory `auxiliaryCNIChainName` beside the default network's file; undefined if there are
 * none. Multus begins this chain with a plugin that prints an empty result. Here the chain begins with an empty `prevResult`.
 */
export function auxiliaryChain(
  { configuration }: PlanContext,
  defaultPath: string | undefined,
): Result<FurtherNetwork | undefined> {
  const name = configuration.auxiliaryCNIChainName;
  if (name === undefined || defaultPath === undefined) return ok(undefined);
  const directory = readConfigurationDirectory(join(dirname(defaultPath), name));
  if (!directory.ok) return directory;
  if (filesWith([".conf"], directory.value.files).length === 0) return ok(undefined);
  const { cniVersion } = configuration;
  const frame = parseNetworkList(JSON.stringify({ cniVersion, name }), "auxiliaryCNIChainName");
  const list = frame.ok ? withSubdirectoryPlugins(frame.value, defaultPath) : frame;
  if (!list.ok) return list;
  const previous = emptyResult(cniVersion);
  return previous.ok ? ok({ source: name, statusName: undefined, list: list.value, previous: previous.value }) : previous;
}

function emptyResult(cniVersion: string): Result<PluginResult> {
  const version = toVersion(cniVersion);
  if (!version.ok) return version;
  const lists = versionAtLeast(cniVersion, "0.3.0");
  if (!lists.ok) return lists;
  const empty = lists.value ? { cniVersion, interfaces: [], ips: [], routes: [], dns: {} } : { cniVersion, dns: {} };
  return readResult(JSON.stringify(empty), version.value, "empty result");
}
