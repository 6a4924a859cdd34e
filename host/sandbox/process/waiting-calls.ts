// Calls that wait for a sandbox process, first come, first served; those of one component that may share a process go together.

interface Waiting<P> {
  readonly shared: string | undefined;
  readonly give: (place: P | undefined) => void;
}

export class WaitingCalls<P> {
  private readonly waiting: Waiting<P>[] = [];
  private readonly mostShared: number;

  /** `mostShared`: calls that may share a place. */
  constructor(mostShared: number) {
    this.mostShared = mostShared;
  }

  get size(): number {
    return this.waiting.length;
  }

  /** Has `give` called once: with a place, or with none after `waitMs`. Calls with the same `shared` can have one place together. */
  add(shared: string | undefined, waitMs: number, give: (place: P | undefined) => void): void {
    const waiting: Waiting<P> = {
      shared,
      give: (place) => {
        clearTimeout(timer);
        give(place);
      },
    };
    const timer = setTimeout(() => {
      const at = this.waiting.indexOf(waiting);
      if (at >= 0) this.waiting.splice(at, 1);
      give(undefined);
    }, waitMs);
    this.waiting.push(waiting);
  }

  /** How many places would serve all. */
  get needed(): number {
    const shares = new Map<string, number>();
    let own = 0;
    for (const { shared } of this.waiting) {
      if (shared === undefined) own += 1;
      else shares.set(shared, (shares.get(shared) ?? 0) + 1);
    }
    return [...shares.values()].reduce((sum, calls) => sum + Math.ceil(calls / this.mostShared), own);
  }

  /** For whom the next free place is; undefined where nobody waits. */
  get first(): { readonly shared: string | undefined } | undefined {
    return this.waiting[0];
  }

  /** Takes out the first one, or the first of those with that `shared`. */
  next(shared?: string): ((place: P | undefined) => void) | undefined {
    const at = shared === undefined ? 0 : this.waiting.findIndex((it) => it.shared === shared);
    return at < 0 ? undefined : this.waiting.splice(at, 1)[0]?.give;
  }

  /** Tells the first one, and those that would have its place with it, that there is none. */
  refuseFirst(): void {
    const { shared } = this.first ?? {};
    this.next()?.(undefined);
    if (shared !== undefined) for (let give = this.next(shared); give !== undefined; give = this.next(shared)) give(undefined);
  }

  refuseAll(): void {
    for (const { give } of this.waiting.splice(0)) give(undefined);
  }
}
