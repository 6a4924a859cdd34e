// Connections of `plexus agent`: no runtime starts it. It keeps a connection open, and carries out the effects that the daemon starts itself.

import type { Request } from "../../protocol/messages.ts";
import type { Environment } from "../../protocol/fields.ts";
import type { ConnectedShim } from "../../protocol/connected-shim.ts";

/** The connection of one process `plexus agent`. */
export interface AgentConnection {
  readonly shim: ConnectedShim;
  /** The agent's environment. The agent looks for plugins only in the directories of its CNI_PATH. */
  readonly environment: Environment;
}

/** Whether the agent executes native plugins; `plexus agent --netlink-only` does not. */
export function runsPlugins({ environment }: AgentConnection): boolean {
  return environment.get("PLEXUS_AGENT") !== "netlink-only";
}

/** A call that the daemon starts itself. */
export interface InternalCall {
  /** `CNI_COMMAND` and the other variables of the verb. A CNI_PATH is ignored: the agent's own counts. */
  readonly variables: Environment;
  readonly stdin: Uint8Array;
  /** Whether the daemon made the configuration on stdin, so that it is not the node's. */
  readonly made?: true;
}

/** The connected agents. The daemon uses the newest of those that execute native plugins, else the newest. */
export class ConnectedAgents {
  readonly #connected: AgentConnection[] = [];

  /** The number of connected agents. */
  get count(): number {
    return this.#connected.length;
  }

  /** The agent that the daemon uses. */
  get chosen(): AgentConnection | undefined {
    return this.#connected.findLast(runsPlugins) ?? this.#connected.at(-1);
  }

  /** Adds a connection; answers a function that removes it. */
  add(connection: AgentConnection): () => void {
    this.#connected.push(connection);
    return () => void this.#connected.splice(this.#connected.indexOf(connection), 1);
  }
}

/** The request that a shim started for this call would send. */
export function requestOf({ variables, stdin }: InternalCall, environment: Environment): Request {
  const inherited = [...environment].filter(([key]) => !key.startsWith("CNI_"));
  const whole = new Map([...inherited, ...variables]);
  whole.set("CNI_PATH", environment.get("CNI_PATH") ?? "");
  return { kind: "request", name: "plexus", environment: whole, stdin, under: 0 };
}
