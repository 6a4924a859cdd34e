// The part of an optional feature in the plan of an ADD. Programs hand the list of features in; planning knows none of them by name.

import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import type { FurtherDevices } from "../../../src/npwg/further-devices.ts";
import type { Cluster, PodOfCall } from "../../cluster/cluster.ts";

/** What one feature adds. Each hook of a feature that is off must cost nothing but a look at the configuration. */
export interface PlanFeature {
  /** Devices of the pod besides those that the kubelet allocated. */
  readonly devices?: {
    readonly isOn: (configuration: HostConfiguration) => boolean;
    /** Undefined: this cluster has none. */
    readonly read: (pod: PodOfCall, cluster: Cluster) => Promise<Result<FurtherDevices | undefined>>;
  };
}

/** The devices that the features know of the call's pod. `pod` and `cluster` are asked only if a feature needs them. */
export async function furtherDevices(
  features: readonly PlanFeature[],
  configuration: HostConfiguration,
  pod: () => Result<PodOfCall | undefined>,
  cluster: () => Promise<Cluster | undefined>,
): Promise<Result<readonly FurtherDevices[]>> {
  const devices: FurtherDevices[] = [];
  for (const feature of features) {
    if (feature.devices?.isOn(configuration) !== true) continue;
    const named = pod();
    if (!named.ok) return named;
    const source = await cluster();
    if (named.value === undefined || source === undefined) continue;
    const read = await feature.devices.read(named.value, source);
    if (!read.ok) return read;
    if (read.value !== undefined) devices.push(read.value);
  }
  return ok(devices);
}
