// Follows the changes of the node's links by an agent's notifications.

import { setTimeout as sleep } from "node:timers/promises";
import type { Agent } from "../../../host/node/agent-call.ts";
import { ShimGone } from "../../../host/protocol/shim.ts";
import type { NodeChange, NodeLinks } from "./node-links.ts";

/** Pause without an agent, or after a wait that failed, in ms. */
const retryPauseMs = 1_000;

/** Whether the agent knows the effect CHANGES. An agent of another version may not. */
function tellsChanges({ environment }: Agent): boolean {
  return environment.has("PLEXUS_AGENT_CHANGES");
}

/** The answer of an effect; undefined: the agent has gone meanwhile. */
async function unlessGone<T>(effect: () => Promise<T>): Promise<T | undefined> {
  try {
    return await effect();
  } catch (error) {
    if (!(error instanceof ShimGone)) throw error;
    return undefined;
  }
}

/** Waits for changes of the node's links, and keeps `node` up to date. */
export class NodeFollower {
  readonly #node: NodeLinks;
  readonly #agent: () => Agent | undefined;
  readonly #changed: (change: NodeChange) => void;

  /** `agent`: the agent that is connected now. `changed` is called for each change. */
  constructor(node: NodeLinks, agent: () => Agent | undefined, changed: (change: NodeChange) => void) {
    this.#node = node;
    this.#agent = agent;
    this.#changed = changed;
  }

  /** Follows until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const agent = this.#agent();
      const mayTell = agent !== undefined && tellsChanges(agent);
      const change = mayTell ? await unlessGone(() => this.#node.next(agent.shim)) : undefined;
      if (change === undefined) await sleep(retryPauseMs, undefined, { signal, ref: false }).catch(() => undefined);
      else this.#changed(change);
    }
  }

  /** Lists the node's links, if the agent does not tell their changes: nothing else shows them then. */
  async listIfUntold(): Promise<void> {
    const agent = this.#agent();
    if (agent !== undefined && !tellsChanges(agent)) await unlessGone(() => this.#node.list(agent.shim));
  }
}
