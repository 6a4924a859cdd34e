// What happens to one pod of the crowd: drawn from the run's seed and the pod's number, so that a run can be repeated whatever the
// order in which its pods are served.

/** What a step can be ordered to do: to kill, or to fail. */
export const stepFaults = ["brain", "hands", "both", "fail"] as const;
const addFaults = [...stepFaults, "no pod yet", "status refused"] as const;
export type AddFault = (typeof addFaults)[number];
export type DelFault = (typeof stepFaults)[number];

export interface PodPlan {
  readonly number: number;
  /** Further networks, by name; the default one comes on top. */
  readonly networks: readonly string[];
  /** What goes wrong with its ADDs, one after the other; then one goes right. */
  readonly add: readonly AddFault[];
  /** Whether something passes by itself in the cluster while the ADD that goes right is under way. */
  readonly hiccup: boolean;
  readonly del: readonly DelFault[];
  /** Which of its networks a fault of a step hits. */
  readonly place: number;
}

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = Math.trunc(seed);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `share` of the ADDs and of the DELs go wrong, some of them again. */
export function podPlan(seed: number, number: number, networks: readonly string[], share: number): PodPlan {
  const random = randomFrom(seed * 7919 + number);
  const drawn = <T>(from: readonly T[]): T[] => {
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
    add: drawn(addFaults),
    del: drawn(stepFaults),
    hiccup: random() < share / 2,
    place: Math.floor(random() * (count + 1)),
  };
}
