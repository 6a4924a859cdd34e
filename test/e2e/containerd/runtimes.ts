// The container runtimes of these tests, and what they need of the machine.

import { iproute2, linkType, missing, privateNamespaces, referencePlugins, type Requirement } from "../../harness/requires.ts";
import { mixedInstallation } from "../mixed-network.ts";
import { containers, newer, newerContainerd, program } from "./programs.ts";

export interface Runtime {
  readonly name: string;
  /** The containerd. */
  readonly path: () => string;
  /** The newest CNI version that it speaks. */
  readonly cniVersion: string;
  readonly requirement: Requirement;
}

/** CNI 1.0: knows no STATUS. */
export const distributions: Runtime = {
  name: "the distribution's containerd",
  path: () => program("containerd") ?? "",
  cniVersion: "1.0.0",
  requirement: () => undefined,
};

/** CNI 1.1: NetworkReady is what STATUS answers. */
export const callingStatus: Runtime = {
  name: "a containerd that calls STATUS",
  path: () => newerContainerd() ?? "",
  cniVersion: "1.1.0",
  requirement: newer,
};

/** What Plexus is installed with: for mixed chains, and for host ports. */
export const installation = { ...mixedInstallation, native: [...mixedInstallation.native, "portmap"] };

/** Whether a suite can't run in this runtime here; says why. */
export function missingRuntime(suite: string, { name, requirement }: Runtime): boolean {
  return missing(
    `${suite} in ${name}`,
    privateNamespaces,
    iproute2,
    linkType("veth"),
    linkType("bridge"),
    referencePlugins("loopback", ...installation.native),
    containers,
    requirement,
  );
}
