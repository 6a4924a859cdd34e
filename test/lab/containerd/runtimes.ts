// The container runtimes of these tests and their requirements on the machine.

import { command, iproute2, linkType, missing, privateNamespaces, referencePlugins, type Requirement } from "../requires.ts";
import { mixedInstallation } from "../mixed-network.ts";
import { containers, newer, newerContainerd, program } from "./programs.ts";

export interface Runtime {
  readonly name: string;
  /** The path of containerd. */
  readonly path: () => string;
  /** The newest CNI version that this containerd supports. */
  readonly cniVersion: string;
  readonly requirement: Requirement;
}

/** CNI 1.0, which has no STATUS. */
export const distributions: Runtime = {
  name: "the distribution's containerd",
  path: () => program("containerd") ?? "",
  cniVersion: "1.0.0",
  requirement: () => undefined,
};

/** CNI 1.1: NetworkReady has the result of STATUS. */
export const callingStatus: Runtime = {
  name: "a containerd that calls STATUS",
  path: () => newerContainerd() ?? "",
  cniVersion: "1.1.0",
  requirement: newer,
};

/** The installed plugins: those of the mixed chain and portmap. */
export const installation = { ...mixedInstallation, native: [...mixedInstallation.native, "portmap"] };

/** Whether this machine lacks a requirement of a suite in this runtime. Prints the reason. */
export function missingRuntime(suite: string, { name, requirement }: Runtime): boolean {
  return missing(
    `${suite} in ${name}`,
    privateNamespaces,
    iproute2,
    linkType("veth"),
    linkType("bridge"),
    referencePlugins("loopback", ...installation.native),
    command("iptables-save", "--version"),
    containers,
    requirement,
  );
}
