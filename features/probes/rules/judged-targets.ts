// The policies of a probe's targets: those of the pod that asks, and those of a target that is a pod of this node.

import type { JudgedEcho, JudgedPod } from "../../../src/kube/packet-judge.ts";
import { type Cidr, formatAddress, type IpAddress } from "../../../src/net/ip.ts";
import type { Forbidding, ProbeReport } from "./probe-report.ts";
import { type ProbeSource, wayTo } from "./probe-targets.ts";

/** A pod of the network on this node. */
export interface NetworkPod extends JudgedPod {
  readonly ifname: string;
  readonly addresses: readonly Cidr[];
}

/** The question to one pod's policies about one target. */
export interface TargetQuestion {
  /** The target's address as text. */
  readonly target: string;
  readonly side: Forbidding["side"];
  readonly pod: NetworkPod;
  readonly echo: JudgedEcho;
}

/** The questions: the egress of the pod that asks, and the ingress of each target that is a pod of this node. A target without a source address has none. */
export function targetQuestions(
  asker: NetworkPod & ProbeSource,
  pods: readonly NetworkPod[],
  targets: readonly IpAddress[],
): readonly TargetQuestion[] {
  const owners = new Map(pods.flatMap((pod) => pod.addresses.map(({ address }) => [formatAddress(address), pod] as const)));
  return targets.flatMap((destination): readonly TargetQuestion[] => {
    // Without a way nothing is sent, and the policies are told all the same.
    const ofFamily = asker.addresses.find(({ address }) => address.family === destination.family)?.address;
    const source = wayTo(asker, destination)?.source ?? ofFamily;
    if (source === undefined) return [];
    const target = formatAddress(destination);
    const owner = owners.get(target);
    const out = { direction: "out", ifname: asker.ifname, source, destination } as const;
    const egress = { target, side: "egress", pod: asker, echo: out } as const;
    if (owner === undefined) return [egress];
    return [egress, { target, side: "ingress", pod: owner, echo: { ...out, direction: "in", ifname: owner.ifname } }];
  });
}

/** The report with the policies that forbid requests to each target. */
export function withForbidding(
  report: ProbeReport,
  found: readonly { readonly question: TargetQuestion; readonly policies: readonly string[] }[],
): ProbeReport {
  const byTarget = Map.groupBy(
    found.filter(({ policies }) => policies.length > 0),
    ({ question }) => question.target,
  );
  const targets = report.targets.map((target) => {
    const own = byTarget.get(target.address) ?? [];
    const forbidden = own.map(({ question, policies }) => ({ side: question.side, pod: question.pod.pod, policies }));
    return forbidden.length === 0 ? target : { ...target, forbidden };
  });
  return { ...report, targets };
}
