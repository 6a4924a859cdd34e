// Requirements of a cluster on the machine.

import { existsSync } from "node:fs";

import { containers } from "../containerd/programs.ts";
import { clusterPrograms, kubeApi, kubePrograms } from "../kube/binaries.ts";
import { command, iproute2, linkType, missing, privateNamespaces, referencePlugins, type Requirement } from "../requires.ts";
import { busybox } from "./images.ts";

/** Reference plugins of the default network. */
export const networkPlugins = ["bridge", "host-local", "loopback", "portmap"] as const;

const image: Requirement = () =>
  busybox() === undefined ? "no static busybox: set BUSYBOX, or, on Debian, run test/lab/cluster/get.ts" : undefined;

/** The kubelet opens /dev/kmsg, which few containers have. */
const kernelLog: Requirement = () => (existsSync("/dev/kmsg") ? undefined : "there is no /dev/kmsg, which the kubelet needs");

/** Whether this machine lacks a requirement of a suite on a cluster. Prints the reasons. */
export function missingCluster(suite: string, ...more: readonly Requirement[]): boolean {
  return missing(
    suite,
    privateNamespaces,
    containers,
    kubeApi,
    kubePrograms(...clusterPrograms),
    iproute2,
    linkType("veth"),
    linkType("bridge"),
    command("iptables-save", "--version"),
    referencePlugins(...networkPlugins),
    image,
    kernelLog,
    ...more,
  );
}
