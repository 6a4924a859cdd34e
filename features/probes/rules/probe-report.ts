// The findings of a probe of a network.

/** The outcomes of one target, the best first. */
export const probeOutcomes = [
  "answers",
  "answers-small",
  "unreachable",
  "lost",
  "no-neighbour",
  "no-way",
  "no-endpoint",
] as const;

/** One outcome. */
export type ProbeOutcome = (typeof probeOutcomes)[number];

/** The policies of one pod that forbid echo requests to a target. */
export interface Forbidding {
  readonly side: "egress" | "ingress";
  /** The pod with the policies, as `namespace/name`. */
  readonly pod: string;
  /** `NAMESPACE/NAME`. */
  readonly policies: readonly string[];
}

/** The answer of a target. */
export interface ProbeAnswer {
  readonly outcome: ProbeOutcome;
  /** Bytes of the largest packet that was answered; 0: none. */
  readonly bytes: number;
  /** The path's MTU that a router named. */
  readonly mtu?: number | undefined;
  /** The policies that forbid the requests, of pods of this node; missing: none does. */
  readonly forbidden?: readonly Forbidding[];
}

/** One target, and what it answered. */
export interface ProbedTarget extends ProbeAnswer {
  /** `gateway`, `pod NAMESPACE/NAME`, `Service NAMESPACE/NAME at ADDRESS` for each of its endpoints, or `address`. */
  readonly what: string;
  readonly address: string;
  /** The hardware address of the next hop; undefined: no neighbour has answered. */
  readonly mac?: string | undefined;
}

/** The report of the daemon. */
export interface ProbeReport {
  readonly apiVersion: "plexus/v1";
  readonly kind: "NetworkProbe";
  readonly pod: string;
  readonly network: string;
  readonly ifname: string;
  /** The MTU of the pod's link. */
  readonly mtu: number;
  readonly targets: readonly ProbedTarget[];
  /** The reasons why a pod's policies could not be judged; missing: there is none. */
  readonly policyProblems?: readonly string[];
}

const sentences: Readonly<Record<ProbeOutcome, string>> = {
  answers: "answers",
  "answers-small": "answers small packets only",
  unreachable: "a router says that it is unreachable",
  lost: "a neighbour has the address, and no echo came back: lost, or a policy of another node's pod or a firewall forbids it",
  "no-neighbour": "no neighbour has answered for it",
  "no-way": "is on no network of the interface, which has no gateway",
  "no-endpoint": "the Service has no endpoint on this network: connections are refused",
};

/** The outcome as a sentence. */
export function outcomeText(target: ProbeAnswer): string {
  const { outcome, forbidden = [] } = target;
  const text = answerText(target);
  if (forbidden.length === 0) return text;
  const policies = forbidden.map(forbiddingText).join(" and ");
  // Without a neighbour nothing was sent that a policy could stop.
  if (outcome === "no-neighbour" || outcome === "no-way" || outcome === "no-endpoint")
    return `${text}; forbidden by ${policies}, too`;
  return hasAnswered(target) ? `${text}, although forbidden by ${policies}` : `no answer: forbidden by ${policies}`;
}

/** Whether an echo came back. */
export function hasAnswered({ bytes }: ProbeAnswer): boolean {
  return bytes > 0;
}

/** The warnings of a report: answers that a policy forbids, and policies that could not be judged. */
export function probeWarnings({
  targets,
  policyProblems = [],
}: Pick<ProbeReport, "targets" | "policyProblems">): readonly string[] {
  const answers = targets
    .filter(hasAnswered)
    .flatMap(({ address, forbidden = [] }) =>
      forbidden.map((each) =>
        each.side === "ingress"
          ? `${address} answered, although forbidden by ${forbiddingText(each)}: the pod's table is missing or old, or the pod has changed it. Compare \`plexusctl policies tables ${each.pod}\` with \`nft list ruleset\` in the pod.`
          : `${address} answered the probe, whose packets pass the pod's own table. The pod's own packets are forbidden by ${forbiddingText(each)}.`,
      ),
    );
  return [...answers, ...policyProblems.map((each) => `policies are not judged: ${each}`)];
}

function forbiddingText({ side, pod, policies }: Forbidding): string {
  return `${policies.join(", ")} (${side} of ${pod})`;
}

function answerText({ outcome, bytes, mtu }: ProbeAnswer): string {
  if (outcome === "answers") return `answers packets of ${bytes} bytes`;
  if (outcome !== "answers-small") return sentences[outcome];
  return mtu === undefined
    ? `answers packets of ${bytes} bytes, and full ones are lost: a link on the way has a smaller MTU`
    : `answers packets of ${bytes} bytes, and the path's MTU is ${mtu}`;
}
