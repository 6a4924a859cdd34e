// The findings of a probe of a network.

/** The outcomes of one target, the best first. */
export const probeOutcomes = ["answers", "answers-small", "unreachable", "lost", "no-neighbour", "no-way"] as const;

/** One outcome. */
export type ProbeOutcome = (typeof probeOutcomes)[number];

/** One target, and what it answered. */
export interface ProbedTarget {
  /** `gateway`, `pod NAMESPACE/NAME`, or `address`. */
  readonly what: string;
  readonly address: string;
  readonly outcome: ProbeOutcome;
  /** The hardware address of the next hop; undefined: no neighbour has answered. */
  readonly mac?: string | undefined;
  /** Bytes of the largest packet that was answered; 0: none. */
  readonly bytes: number;
  /** The path's MTU that a router named. */
  readonly mtu?: number | undefined;
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
}

const sentences: Readonly<Record<ProbeOutcome, string>> = {
  answers: "answers",
  "answers-small": "answers small packets only",
  unreachable: "a router says that it is unreachable",
  lost: "a neighbour has the address, and no echo came back: lost, or a policy forbids it",
  "no-neighbour": "no neighbour has answered for it",
  "no-way": "is on no network of the interface, which has no gateway",
};

/** The outcome as a sentence. */
export function outcomeText({ outcome, bytes, mtu }: Pick<ProbedTarget, "outcome" | "bytes" | "mtu">): string {
  if (outcome === "answers") return `answers packets of ${bytes} bytes`;
  if (outcome !== "answers-small") return sentences[outcome];
  return mtu === undefined
    ? `answers packets of ${bytes} bytes, and full ones are lost: a link on the way has a smaller MTU`
    : `answers packets of ${bytes} bytes, and the path's MTU is ${mtu}`;
}
