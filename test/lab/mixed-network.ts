// The mixed network: the native bridge plugin with a WASM IPAM delegate, a WASM step and a native step.

import { iproute2, linkType, missing, privateNamespaces, referencePlugins } from "./requires.ts";
import type { Stage } from "./stage.ts";

export const mixedInstallation = {
  native: ["bridge", "ptp", "macvlan", "tuning", "host-local"],
  components: ["ipam-host-local", "status-shaper"],
} as const;

/** Whether this machine lacks a requirement of suites with mixed chains. Prints the reason. */
export function missingForMixed(suite: string): boolean {
  return missing(
    suite,
    privateNamespaces,
    iproute2,
    linkType("veth"),
    linkType("bridge"),
    referencePlugins(...mixedInstallation.native),
  );
}

export function bridgeStep(more: object = {}): object {
  return {
    type: "bridge",
    bridge: "br0",
    isDefaultGateway: true,
    ipam: { type: "ipam-host-local", subnet: "10.10.0.0/24" },
    ...more,
  };
}

export const shaperStep = { type: "status-shaper", dns: { nameservers: ["10.10.0.1"], search: ["shop.example"] } };

export function tuningStep(stage: Stage, more: object = {}): object {
  return { type: "tuning", mtu: 1400, dataDir: stage.tuning, ...more };
}

/** The configuration of the whole chain. The first pod gets 10.10.0.2. */
export function mixedNetwork(stage: Stage, more: object = {}): object {
  return stage.network([bridgeStep(), shaperStep, tuningStep(stage)], more);
}

/** The chain's steps in the order of their ends, formatted by `shown`. */
export const mixedSteps = {
  ADD: ["ADD ipam-host-local wasm nested", "ADD bridge native", "ADD status-shaper wasm", "ADD tuning native"],
  CHECK: ["CHECK ipam-host-local wasm nested", "CHECK bridge native", "CHECK status-shaper wasm", "CHECK tuning native"],
  DEL: ["DEL tuning native", "DEL status-shaper wasm", "DEL ipam-host-local wasm nested", "DEL bridge native"],
} as const;
