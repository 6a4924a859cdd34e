// The order of waiting calls: first that of the lane with the fewest running calls, among equals of the lane whose last call began first. So the
// long calls of one namespace delay the first call of another by one call at most, not by all that wait.

/** One namespace's calls. */
interface Lane {
  running: number;
  /** The number of the lane's last call, counted over all lanes. */
  lastBegun: number;
}

/** The lane of calls whose answers no pod needs. It comes after all others. A namespace has no such name. */
export const lastLane = "(last)";

/** Lanes without running calls are remembered up to this number of lanes, for their turn. */
const maxLanes = 1024;

/** The lanes of a pool, by name. */
export class FairTurns {
  /** In the order of their last calls, the earliest first. */
  readonly #lanes = new Map<string, Lane>();
  #begun = 0;

  /** A call of the lane begins. */
  began(name: string): void {
    const lane = this.#lanes.get(name) ?? { running: 0, lastBegun: 0 };
    lane.running += 1;
    lane.lastBegun = ++this.#begun;
    this.#lanes.delete(name);
    this.#lanes.set(name, lane);
    if (this.#lanes.size > maxLanes) this.#forgetOne();
  }

  /** A call of the lane has ended. */
  ended(name: string): void {
    const lane = this.#lanes.get(name);
    if (lane !== undefined) lane.running -= 1;
  }

  /** The name of the lane that comes first; undefined for no names. Among new lanes the first name comes first. */
  first(names: Iterable<string>): string | undefined {
    let first: string | undefined;
    for (const name of names) if (first === undefined || this.#comesBefore(name, first)) first = name;
    return first;
  }

  #comesBefore(one: string, other: string): boolean {
    if (one === lastLane || other === lastLane) return other === lastLane;
    const [a, b] = [this.#lanes.get(one), this.#lanes.get(other)];
    const [running, otherRunning] = [a?.running ?? 0, b?.running ?? 0];
    return running === otherRunning ? (a?.lastBegun ?? 0) < (b?.lastBegun ?? 0) : running < otherRunning;
  }

  #forgetOne(): void {
    for (const [name, { running }] of this.#lanes) {
      if (running > 0) continue;
      this.#lanes.delete(name);
      return;
    }
  }
}
