// The directories in which an agent has seen a network namespace of a call that the daemon serves. A call names a living namespace even where the
// journal has none: with a full pool no pod can be attached, so that no entry's namespace would ever show that the agent sees the runtime's directory.

import { directoryOf } from "../../../src/reconcile/sight.ts";
import { lookAtNamespace } from "../../protocol/look-at-namespace.ts";
import { ShimGone } from "../../protocol/shim.ts";
import type { Agent } from "../agent-call.ts";

/** Maximum directories of one agent: a runtime has one or two. */
const maxDirectories = 16;

/** The namespaces of served calls, with the agents' findings about them. */
export class ServedNamespaces {
  readonly #seen = new WeakMap<Agent, Set<string>>();

  /** Looks at the namespace of a call while it is served, unless this agent has seen another one in the same directory. */
  async note(agent: Agent, path: string): Promise<void> {
    const seen = this.#seen.get(agent) ?? new Set();
    this.#seen.set(agent, seen);
    const directory = directoryOf(path);
    if (seen.has(directory) || seen.size >= maxDirectories) return;
    try {
      if ((await lookAtNamespace(agent.shim, path)) === "there") seen.add(directory);
    } catch (error) {
      if (!(error instanceof ShimGone)) throw error;
    }
  }

  /** The directories that this agent is known to see. */
  directoriesOf(agent: Agent): ReadonlySet<string> {
    return this.#seen.get(agent) ?? none;
  }
}

const none: ReadonlySet<string> = new Set();
