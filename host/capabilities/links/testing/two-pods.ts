// For tests: a node with two bridges, devices, and the veths of two pods.

import { createPodNamespace, type PodNamespace } from "../../../../test/lab/namespaces.ts";
import type { LinkTests } from "./link-tests.ts";

/** The attachment's pod has the veth `vethown`, a port of `brgood`; its neighbour has `vethnext`, a port of `brother`. */
export function openTwoPods(links: LinkTests): { readonly pod: PodNamespace; readonly neighbour: PodNamespace } {
  const [pod, neighbour] = [createPodNamespace("scope"), createPodNamespace("scope")];
  for (const args of [
    "link add brgood type bridge",
    "link add brother type bridge",
    "link add dev0 type veth peer name dev0peer",
    "link add dev1 type veth peer name up0",
    `link add vethown type veth peer name eth0 netns ${pod.name}`,
    `link add vethnext type veth peer name eth0 netns ${neighbour.name}`,
    "link set vethown master brgood up",
    "link set vethnext master brother up",
  ])
    links.ip(args);
  links.ip("link add other0 type veth peer name other1", pod);
  return { pod, neighbour };
}
