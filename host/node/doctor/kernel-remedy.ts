// The command that tries the kernel's parts where doctor itself may make no network namespace, such as in the chart's container.

import { placeOptions, type NodePlaces } from "../command-line/common-options.ts";

/** The variables that the chart gives to the daemon's container. */
export interface ContainerVariables {
  readonly NODE_NAME?: string | undefined;
  /** The directory of the programs on the node; empty or undefined: none. */
  readonly PLEXUS_NODE_HOME?: string | undefined;
  /** Set by the kubelet in each container. */
  readonly KUBERNETES_SERVICE_HOST?: string | undefined;
}

/** The remedy of a probe that was refused a network namespace. */
export function kernelRemedy(variables: ContainerVariables, places: NodePlaces): string {
  const { NODE_NAME: node = "", PLEXUS_NODE_HOME: home = "", KUBERNETES_SERVICE_HOST: inPod = "" } = variables;
  const where = node === "" ? "on the node" : `on node ${node}`;
  const options = placeOptions(places);
  if (home !== "") return `Run as root ${where}: ${[`${home}/bin/plexusctl doctor`, ...options].join(" ")}`;
  const command = ["plexusctl doctor", ...options].join(" ");
  if (inPod === "") return `Run as root ${where}, not in a container: ${command}`;
  return `Run as root ${where}, with plexusctl of the release's archive, because this installation puts no programs on the node: ${command}`;
}
