// Random faults of one pod of the crowd test. The seed and the pod's number determine them, so that a run can be repeated although the order
// of its pods varies.

import { randomFrom } from "../lab/random-from.ts";

/** Orders to a fault step: kill a process, or fail. */
export const stepFaults = ["engine", "shim", "both", "fail"] as const;
const addFaults = [...stepFaults, "no pod yet", "status refused"] as const;
export type AddFault = (typeof addFaults)[number];
export type DelFault = (typeof stepFaults)[number];

export interface PodPlan {
  readonly number: number;
  /** Names of the pod's secondary networks, without the default network. */
  readonly networks: readonly string[];
  /** Faults of the pod's first ADDs, one per ADD. The ADD after the last fault must succeed. */
  readonly add: readonly AddFault[];
  /** Whether API requests of the last ADD fail transiently. */
  readonly hasTransientFailure: boolean;
  /** Faults of the pod's first DELs, one per DEL. */
  readonly del: readonly DelFault[];
  /** The network whose fault step is used: 0 is the default network, others are 1 plus the index in `networks`. */
  readonly faultNetwork: number;
}

/** Draws the faults of a pod. `share` is the probability of a first fault; each further one is half as probable. */
export function podPlan(seed: number, number: number, networks: readonly string[], share: number): PodPlan {
  const random = randomFrom(seed * 7919 + number);
  const drawFaults = <T>(from: readonly T[]): T[] => {
    const faults: T[] = [];
    for (let chance = share; random() < chance && faults.length < 3; chance /= 2) {
      const fault = from[Math.floor(random() * from.length)];
      if (fault !== undefined) faults.push(fault);
    }
    return faults;
  };
  const count = Math.floor(random() * (networks.length + 1));
  return {
    number,
    networks: networks.toSorted(() => random() - 0.5).slice(0, count),
    add: drawFaults(addFaults),
    del: drawFaults(stepFaults),
    hasTransientFailure: random() < share / 2,
    faultNetwork: Math.floor(random() * (count + 1)),
  };
}
