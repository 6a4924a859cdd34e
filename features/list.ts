// The optional features of this build. Taking a feature out is: delete its folder, and its line here.

import type { HostConfiguration } from "../src/configuration/host-configuration.ts";
import type { KernelProbe } from "../host/node/doctor/kernel-probe.ts";
import type { PlanFeature } from "../host/engine/planned/plan-feature.ts";
import type { PoolFeature } from "../host/capabilities/leases/pool-source.ts";
import type { CallRecorder } from "../host/engine/events/call-events.ts";
import { claims } from "./claims/feature.ts";
import { chainTrace } from "./chain-trace/feature.ts";
import { components } from "./components/feature.ts";
import { externalPorts } from "./external-ports/feature.ts";
import { dhcpLeases } from "./dhcp-leases/feature.ts";
import type { Feature } from "./feature.ts";
import { hotPlug } from "./hot-plug/feature.ts";
import { linkCounters } from "./link-counters/feature.ts";
import { linkWatch } from "./link-watch/feature.ts";
import { networkApi } from "./network-api/feature.ts";
import { podNetworks } from "./pod-networks/feature.ts";
import { policies } from "./policies/feature.ts";
import { probes } from "./probes/feature.ts";
import { pools } from "./pools/feature.ts";
import type { ResidentFeature } from "./resident-part.ts";
import { resourceClaims } from "./resource-claims/feature.ts";
import { services } from "./services/feature.ts";

/** All features, in the order of their commands. */
export const features: readonly Feature[] = [
  networkApi,
  podNetworks,
  policies,
  services,
  pools,
  externalPorts,
  resourceClaims,
  claims,
  hotPlug,
  linkWatch,
  linkCounters,
  probes,
  dhcpLeases,
  chainTrace,
  components,
];

/** The feature that serves pools of the cluster; undefined: this build has none. */
export const poolFeature: PoolFeature | undefined = features.find((feature) => feature.pools !== undefined)?.pools;

/** Their recorders of calls. */
export const callRecorders: readonly CallRecorder[] = features.flatMap(({ recorder }) => recorder ?? []);

/** The probes of the kernel that they need with a configuration. */
export async function kernelProbes(configuration: HostConfiguration): Promise<readonly KernelProbe[]> {
  const all = await Promise.all(features.map(({ kernelProbe }) => kernelProbe?.(configuration)));
  return all.filter((each) => each !== undefined);
}

/** Their parts in the daemon beside the calls. */
export async function residentFeatures(): Promise<readonly ResidentFeature[]> {
  return Promise.all(features.flatMap(({ resident }) => resident?.() ?? []));
}

/** Their parts in the plan of an ADD. */
export const planFeatures: readonly PlanFeature[] = features.flatMap(({ plan }) => plan ?? []);
