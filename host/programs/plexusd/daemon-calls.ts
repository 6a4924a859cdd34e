// The calls of a daemon: those of runtimes, and those that the daemon starts itself through an agent.

import { CallSession } from "../../engine/session/call-session.ts";
import type { Agent } from "../../node/agent-call.ts";
import type { Reconciler } from "../../node/reconcile/reconciler.ts";
import type { ConnectedShim } from "../../protocol/connected-shim.ts";
import type { Environment } from "../../protocol/fields.ts";
import type { CallAnswer, Request } from "../../protocol/messages.ts";
import type { DaemonNode } from "./daemon-node.ts";
import { NotedConfigurations } from "./noted-configurations.ts";
import type { ResidentParts } from "./resident-parts.ts";

/** The connection of one process `plexus agent`. */
export interface AgentConnection {
  readonly shim: ConnectedShim;
  /** The agent's environment. The agent looks for plugins only in the directories of its CNI_PATH. */
  readonly environment: Environment;
}

/** Whether the agent executes native plugins; `plexus agent --netlink-only` does not. */
function runsPlugins({ environment }: AgentConnection): boolean {
  return environment.get("PLEXUS_AGENT") !== "netlink-only";
}

/** A call that the daemon starts itself. */
interface InternalCall {
  /** `CNI_COMMAND` and the other variables of the verb. A CNI_PATH is ignored: the agent's own counts. */
  readonly variables: Environment;
  readonly stdin: Uint8Array;
  /** Whether the daemon made the configuration on stdin, so that it is not the node's. */
  readonly made?: true;
}

/** The connected agents. The daemon uses the newest of those that execute native plugins, else the newest. */
class ConnectedAgents {
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
function requestOf({ variables, stdin }: InternalCall, environment: Environment): Request {
  const inherited = [...environment].filter(([key]) => !key.startsWith("CNI_"));
  const whole = new Map([...inherited, ...variables]);
  whole.set("CNI_PATH", environment.get("CNI_PATH") ?? "");
  return { kind: "request", name: "plexus", environment: whole, stdin, under: 0 };
}

/** The calls of one daemon. */
export class DaemonCalls {
  /** The agents, which carry out the effects that the daemon starts itself. */
  readonly agents = new ConnectedAgents();
  /** The configurations that the runtimes' calls have had. */
  readonly configurations = new NotedConfigurations();
  readonly #node: DaemonNode;
  readonly #reconciler: Reconciler;
  readonly #residents: ResidentParts;
  /** Calls that are answered, but not yet recorded in spans and metrics. */
  readonly #unrecorded = new Set<Promise<void>>();
  readonly #chosen = new WeakMap<AgentConnection, Agent>();

  constructor(node: DaemonNode, reconciler: Reconciler, residents: ResidentParts) {
    this.#node = node;
    this.#reconciler = reconciler;
    this.#residents = residents;
  }

  /** An agent has connected; answers a function to call when it disconnects. */
  connected(agent: AgentConnection): () => void {
    const remove = this.agents.add(agent);
    this.#reconciler.wake();
    this.#residents.agentConnected();
    return remove;
  }

  /** Serves a call. `made`: the request's configuration is not the node's. Throws ShimGone. */
  async serve(request: Request, connected: ConnectedShim, waitedMs = 0, made = false): Promise<CallAnswer> {
    const call = this.#open(connected);
    if (!made) this.#reconciler.noteServed(request.environment);
    let answered: CallAnswer | undefined;
    try {
      const reply = await call.serve(request, waitedMs);
      answered = reply;
      if (this.#reconciler.waiting > 0 && reply.status === 0) await this.#undoWaiting(request, connected, call);
      return reply;
    } finally {
      // Recorded after the answer, so that the runtime does not wait. Only stop() waits for it.
      const { promise: recorded, resolve } = Promise.withResolvers<void>();
      this.#unrecorded.add(recorded);
      setImmediate(() => {
        void call.end();
        if (call.configuration !== undefined && !made) {
          const verb = request.environment.get("CNI_COMMAND") ?? "";
          const configuration = this.#reconciler.keepConfiguration(verb, call.configuration, request.stdin);
          this.configurations.note(configuration);
          this.#residents.noteCall(configuration, request.environment, answered);
        }
        this.#unrecorded.delete(recorded);
        resolve();
      });
    }
  }

  /** Serves a call that the daemon starts itself, through the chosen agent; undefined if no agent is connected. Throws ShimGone. */
  async serveInternal(call: InternalCall): Promise<CallAnswer | undefined> {
    const agent = this.agents.chosen;
    return agent && this.serve(requestOf(call, agent.environment), agent.shim, 0, call.made === true);
  }

  /** Serves a STATUS with a configuration that was made for it. */
  serveStatus(stdin: string): Promise<CallAnswer | undefined> {
    return this.serveInternal({ variables: new Map([["CNI_COMMAND", "STATUS"]]), stdin: Buffer.from(stdin), made: true });
  }

  /** Resolves when the answered calls are recorded. */
  async recorded(): Promise<void> {
    await Promise.all(this.#unrecorded);
  }

  /** The chosen agent, for the daemon's own work. Each connection always gives the same object. */
  get agent(): Agent | undefined {
    const connection = this.agents.chosen;
    if (connection === undefined) return undefined;
    const { shim, environment } = connection;
    const known = this.#chosen.get(connection) ?? this.#agentOn(shim, environment, runsPlugins(connection));
    this.#chosen.set(connection, known);
    return known;
  }

  /** Undoes what an agent without native plugins could not, through the shim of this call, whose own work is done. */
  async #undoWaiting({ environment }: Request, connected: ConnectedShim, call: CallSession): Promise<void> {
    await this.#reconciler.undoWaiting(this.#agentOn(connected, environment, true), call.leftMs);
  }

  #agentOn(connected: ConnectedShim, environment: Request["environment"], executesPlugins: boolean): Agent {
    return {
      shim: connected.serving(() => Promise.reject(new Error("a look at a network namespace runs no plugins"))),
      environment,
      runsPlugins: executesPlugins,
      openCall: () => this.#open(connected),
      requestOf: (variables, stdin) => requestOf({ variables, stdin }, environment),
    };
  }

  #open(connected: ConnectedShim): CallSession {
    const shim = connected.serving((inner) => call.serveNested(inner));
    const call: CallSession = new CallSession(this.#node, shim);
    return call;
  }
}
