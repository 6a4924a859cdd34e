// The methods of the CRI Network API on a node's networks.

import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { type NetworkConfig, networkMessage } from "../rules/network-config.ts";
import type { NetworkStatus } from "../rules/network-status.ts";
import type { NodeNetworks } from "./node-networks.ts";
import type { NetworkStatuses } from "./network-statuses.ts";
import { attachInterface } from "./interface-changes.ts";
import type { Rpcs } from "../../../host/node/grpc/rpc-method.ts";
import type { InterfaceChanges } from "../../container-changes.ts";
import { addressesOf, type SandboxAddress, sandboxEntries } from "./sandbox-addresses.ts";

/** Maximum clients that watch at once. */
const maxWatchers = 32;

/** The methods of a node's service. `changes`: changes running sandboxes. */
export function networkRpcs(
  networks: NodeNetworks,
  statuses: NetworkStatuses,
  stateDirectory: string,
  changes: () => InterfaceChanges,
): Rpcs {
  let watchers = 0;
  return {
    unary: {
      SetPodNetwork: async (request) => mapped(networks.set(member(request, "config")), (warnings) => ({ warnings })),
      RemovePodNetwork: async (request) => mapped(networks.remove(member(request, "metadata")), () => ({})),
      ListPodNetwork: async (request) => {
        const all = networks.list();
        const withStatus = member(request, "without_status") !== true;
        const known = withStatus ? await statuses.of(all) : [];
        return ok({
          networks: all.map(({ config }, index) => ({ config: networkMessage(config), status: statusMessage(known[index]) })),
        });
      },
      PodSandboxNetworkStatus: async (request) => {
        const entries = sandboxEntries(stateDirectory, sandboxIn(request));
        return mapped(entries, (all) => ({ ips: addressMessages(addressesOf(all)) }));
      },
      AttachInterface: async (request) => {
        const attached = await attachInterface(changes(), stateDirectory, sandboxIn(request), member(request, "network"));
        return mapped(attached, ({ interfaceName, addresses }) => ({
          interface_name: interfaceName,
          ips: addressMessages(addresses),
        }));
      },
      DetachInterface: async (request) => {
        const entries = sandboxEntries(stateDirectory, sandboxIn(request));
        if (!entries.ok) return entries;
        return mapped(await changes().detach(sandboxIn(request), String(member(request, "interface_name"))), () => ({}));
      },
    },
    watch: (send) => {
      if (watchers >= maxWatchers) return failed(tooManyWatchers);
      watchers += 1;
      const stop = watchNetworks(networks, send);
      return ok(() => {
        watchers -= 1;
        stop();
      });
    },
  };
}

const tooManyWatchers: Fault = fault("BOUND_EXCEEDED", `${maxWatchers} clients watch the networks, which is the maximum`);

/** Sends the networks and then their changes. Answers the function that ends it. */
function watchNetworks(networks: NodeNetworks, send: (answer: object) => void): () => void {
  const event = (type: string, config: NetworkConfig): void => send({ type, config: networkMessage(config) });
  // Subscribed before the list, in one task: no change is lost and none is sent twice.
  const unsubscribe = networks.watch(({ type, config }) => event(type, config));
  const all = networks.list().map(({ config }) => config);
  for (const config of all) event("ADDED", config);
  send({ type: "SYNCED" });
  return unsubscribe;
}

function statusMessage(status: NetworkStatus | undefined): object | undefined {
  if (status === undefined) return undefined;
  return { sandbox_management: status.sandboxManagement, connectivity: status.connectivity, reason: status.reason };
}

function addressMessages(addresses: readonly SandboxAddress[]): readonly object[] {
  return addresses.map(({ ip, networkName, interfaceName }) => ({
    ip,
    network_name: networkName,
    interface_name: interfaceName,
  }));
}

function sandboxIn(request: unknown): string {
  return String(member(request, "pod_sandbox_id"));
}

function member(request: unknown, key: string): unknown {
  return isJsonObject(request) ? request[key] : undefined;
}

function mapped<T>(result: Result<T>, answer: (value: T) => object): Result<object> {
  return result.ok ? ok(answer(result.value)) : result;
}
