// Switches of optional features.

import { key } from "../table/key.ts";
import { boolean } from "../table/kinds.ts";

export const featureKeys = {
  podNetworks: key({
    kind: boolean,
    about:
      "Whether pods' networks come from PodNetworks (KEP-3698) of the Kubernetes API, too; {usual} by default. Needs the chart's networks.enabled.",
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
};
