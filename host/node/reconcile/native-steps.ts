// The networks that an agent without native plugins can undo. The others wait for a call of the runtime, whose shim runs plugins.

import type { NetworkList } from "../../../src/cni/network-list.ts";
import type { Found } from "../../protocol/messages.ts";

/** Looks types up as a call does. */
interface Finder {
  find(type: string): Promise<Found>;
}

/** The native plugins that one undo would have needed. */
export class NativeSteps {
  readonly #finder: Finder | undefined;
  readonly #types = new Set<string>();

  /** `finder`: undefined if the agent runs native plugins. */
  constructor(finder: Finder | undefined) {
    this.#finder = finder;
  }

  /** Whether the network can be undone now. A type that the agent does not find may be a native plugin outside of its container. */
  async allow({ plugins }: NetworkList): Promise<boolean> {
    if (this.#finder === undefined) return true;
    const types = plugins.flatMap(({ type, ipamType }) => (ipamType === undefined ? [type] : [type, ipamType]));
    const finder = this.#finder;
    const found = await Promise.all(types.map(async (type) => ((await finder.find(type)).what === "component" ? [] : [type])));
    const native = found.flat();
    for (const type of native) this.#types.add(type);
    return native.length === 0;
  }

  /** The reason why steps wait; undefined if none waits. */
  get note(): string | undefined {
    return this.#types.size === 0
      ? undefined
      : `the agent runs no native plugins, and the DEL needs ${[...this.#types].join(", ")}`;
  }
}
