// Resources of the node that several applies of this process use at once: bridges with what is on them, and forwarding. An apply that fails
// must not undo a change, even its own, where another apply uses the resource.

interface SharedResource {
  /** Number of applies that use the resource now. */
  activeApplies: number;
  /** Number of applies that used the resource and succeeded. */
  successes: number;
  /** While an apply undoes its changes of the resource; resolves when the undo has ended. */
  undoing: Promise<void> | undefined;
}

/** By the name of a link of the node, or by `forwardingResource`. */
const resources = new Map<string, SharedResource>();

/** The resources that one apply uses. */
export class SharedResources {
  /** Each with its number of successes when this apply began. */
  readonly #used = new Map<string, { readonly resource: SharedResource; readonly successesBefore: number }>();
  #endUndoing: (() => void) | undefined;

  /** Registers an apply until `leave`. Waits while a failed apply undoes its changes of one of the resources. */
  static async enter(names: Iterable<string>): Promise<SharedResources> {
    const all = new Set(names);
    for (;;) {
      const undoing = [...all].flatMap((name) => resources.get(name)?.undoing ?? []);
      if (undoing.length === 0) break;
      await Promise.all(undoing);
    }
    const shared = new SharedResources();
    for (const name of all) {
      const resource = resources.get(name) ?? { activeApplies: 0, successes: 0, undoing: undefined };
      resource.activeApplies += 1;
      resources.set(name, resource);
      shared.#used.set(name, { resource, successesBefore: resource.successes });
    }
    return shared;
  }

  /**
   * Begins the undo of this apply. Until `leave`, other applies wait for the resources that no other apply has used since this one began.
   * Answers whether others use a resource.
   */
  beginUndo(): (name: string) => boolean {
    const exclusive = new Set<string>();
    const undoing = new Promise<void>((resolve) => (this.#endUndoing = resolve));
    for (const [name, { resource, successesBefore }] of this.#used) {
      if (resource.activeApplies > 1 || resource.successes > successesBefore) continue;
      resource.undoing = undoing;
      exclusive.add(name);
    }
    return (name) => this.#used.has(name) && !exclusive.has(name);
  }

  leave(outcome: "succeeded" | "failed"): void {
    for (const [name, { resource }] of this.#used) {
      resource.activeApplies -= 1;
      if (outcome === "succeeded") resource.successes += 1;
      if (this.#endUndoing !== undefined) resource.undoing = undefined;
      if (resource.activeApplies === 0) resources.delete(name);
    }
    this.#used.clear();
    this.#endUndoing?.();
  }
}

/** The name of a family's forwarding as a resource. No link can have this name: it contains a slash. */
export function forwardingResource(family: "ipv4" | "ipv6"): string {
  return `/forwarding/${family}`;
}
