// What the applies of this process share on the node: bridges, what is on them, forwarding. One that fails leaves to the others what they
// count on by then, though it was it that made it.

/** Of a link of the node, by name, or of another thing. */
interface Thing {
  /** Applies that use it now. */
  inside: number;
  /** How often one that used it succeeded. */
  kept: number;
  /** Somebody takes something of it back now; resolved when that has ended. */
  takingBack: Promise<void> | undefined;
}

const things = new Map<string, Thing>();

/** One apply's part in all that it uses. */
export class Shared {
  /** Each with the number of those that had kept it when this apply came. */
  readonly #used = new Map<string, { readonly thing: Thing; readonly kept: number }>();
  #ended: (() => void) | undefined;

  /** Until `leave`. Waits while one that failed takes something back of what is to be used. */
  static async enter(names: Iterable<string>): Promise<Shared> {
    const all = new Set(names);
    for (;;) {
      const underWay = [...all].flatMap((name) => things.get(name)?.takingBack ?? []);
      if (underWay.length === 0) break;
      await Promise.all(underWay);
    }
    const shared = new Shared();
    for (const name of all) {
      const thing = things.get(name) ?? { inside: 0, kept: 0, takingBack: undefined };
      thing.inside += 1;
      things.set(name, thing);
      shared.#used.set(name, { thing, kept: thing.kept });
    }
    return shared;
  }

  /** Nobody else comes in any more to what only this apply has used since it came. Answers whether others count on a thing. */
  takeBack(): (name: string) => boolean {
    const own = new Set<string>();
    const ended = new Promise<void>((resolve) => (this.#ended = resolve));
    for (const [name, { thing, kept }] of this.#used) {
      if (thing.inside > 1 || thing.kept > kept) continue;
      thing.takingBack = ended;
      own.add(name);
    }
    return (name) => this.#used.has(name) && !own.has(name);
  }

  leave(how: "succeeded" | "failed"): void {
    for (const [name, { thing }] of this.#used) {
      thing.inside -= 1;
      if (how === "succeeded") thing.kept += 1;
      if (this.#ended !== undefined) thing.takingBack = undefined;
      if (thing.inside === 0) things.delete(name);
    }
    this.#used.clear();
    this.#ended?.();
  }
}

/** Forwarding of a family as a thing that is shared; no link is called so. */
export function forwardingName(family: "ipv4" | "ipv6"): string {
  return `/forwarding/${family}`;
}
