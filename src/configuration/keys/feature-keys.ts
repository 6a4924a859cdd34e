// Switches of optional features.

import { key } from "../table/key.ts";
import { boolean, oneOf } from "../table/kinds.ts";
import { section } from "../table/section.ts";

/** Policies on further networks. */
const policiesKeys = {
  failure: key({
    kind: oneOf(["closed", "open"]),
    about:
      "Effect of policies that cannot be read or applied: closed fails the ADD, open starts the pod with a warning; {usual} by default.",
    usual: "closed",
  }),
  established: key({
    kind: oneOf(["keep", "end"]),
    about: "Whether connections that no policy allows any more go on, or their packets are dropped; {usual} by default.",
    usual: "keep",
  }),
  enforceAt: key({
    kind: oneOf(["pod", "node"]),
    about:
      "Where policies hold: pod is the pod's network namespace, which a container with NET_ADMIN or NET_RAW gets round; node is also the node's end of each attachment's veth, which pins the pod's addresses; {usual} by default.",
    usual: "pod",
  }),
};

/** The watch over links. */
const linkWatchKeys = {
  repair: key({
    kind: boolean,
    about:
      "Whether a lost link is attached again, with the same name, hardware address, addresses and routes; {usual} by default. Needs hotPlug.",
    usual: false,
  }),
};

export const featureKeys = {
  podNetworks: key({
    kind: boolean,
    about:
      "Whether pods' networks come from PodNetworks (KEP-3698) of the Kubernetes API, too; {usual} by default. Needs the chart's networks.enabled.",
    usual: false,
  }),
  requireDefaultPodNetwork: key({
    kind: boolean,
    about:
      'Whether STATUS answers code 50 while the Kubernetes API has no PodNetwork "default", so that the kubelet reports a node that is not ready; {usual} by default. Needs podNetworks.',
    usual: false,
  }),
  hotPlug: key({
    kind: boolean,
    about:
      "Whether the daemon attaches and detaches networks of running pods when their annotation k8s.v1.cni.cncf.io/networks changes; {usual} by default. Needs the daemon and the agent, and holds for pods that are attached with it.",
    usual: false,
  }),
  externalPorts: key({
    kind: boolean,
    about:
      "Whether definitions may name a provider of ports in an outer fabric, for which an ADD waits; {usual} by default. Needs the chart's externalPorts.enabled.",
    usual: false,
  }),
  linkCounters: key({
    kind: boolean,
    about:
      "Whether the daemon reads the counters of pods' further networks, for metrics by network and for plexusctl top; {usual} by default. Needs the daemon and the agent.",
    usual: false,
  }),
  linkWatch: key({
    kind: section(linkWatchKeys),
    about:
      "Watches the links of pods' further networks: one that is gone, set down or changed is an Event, a condition in the network status, a metric and a line of plexusctl status; off without this key. Needs the daemon and the agent.",
  }),
  probes: key({
    kind: boolean,
    about:
      "Whether plexusctl probe may send questions and echo requests from pods of the node; {usual} by default. Needs the daemon and the agent.",
    usual: false,
  }),
  claims: key({
    kind: boolean,
    about:
      "Whether an ADD attaches the networks of the pod's resource claims that the daemon's driver has prepared; {usual} by default. Needs the daemon and the chart's claims.enabled.",
    usual: false,
  }),
  policies: key({
    kind: section(policiesKeys),
    about:
      "Applies MultiNetworkPolicies to pods' networks, as nftables rules in the pod's network namespace before its first packet; off without this key. Needs the chart's policies.enabled.",
  }),
  services: key({
    kind: boolean,
    about:
      "Whether pods reach the cluster addresses of Services on their further networks, by nftables rules in the pod's network namespace; {usual} by default. Needs the chart's services.enabled.",
    usual: false,
  }),
};
