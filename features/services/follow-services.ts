// The tables of running pods: written after a change of a Service or an endpoint of their networks.

import type { FollowedWork } from "../../host/node/running-pods/follow-pods.ts";
import { networkIds } from "./node/pod-networks.ts";
import { keepTables } from "./node/served-pods.ts";
import { servePod } from "./node/serve-pod.ts";
import { beginServiceRound, onServiceChange } from "./service-changes.ts";

/** The work. A change is that of a network. */
export const followServices: FollowedWork = {
  name: "services",
  isOn: ({ services }) => services,
  noAgent: "SERVICES_FAILED",
  failureReason: "ServicesNotApplied",
  apply: servePod,
  onChange: onServiceChange,
  isConcerned: (_, { plan }, networks) => networkIds(plan.attachments).some((each) => networks.has(each)),
  followsLabels: false,
  onRound: beginServiceRound,
  onContainers: keepTables,
};
