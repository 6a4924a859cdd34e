// Calls of the daemon itself for running containers: through the agent, with the configuration that the runtime passed last.

import { fault, type Fault } from "../../../src/fault/fault.ts";
import { failed, type Result } from "../../../src/fault/result.ts";
import type { Call } from "../../../host/engine/call.ts";
import { callOfRunning } from "../../../host/engine/session/internal-call.ts";
import type { JournalPlan } from "../../../host/store/journal/entry.ts";
import { requireKept, tryAgentCall } from "../../../host/node/agent-call.ts";
import type { ResidentNode } from "../../../host/node/resident-node.ts";
import { agentStdin } from "../../../host/node/reconcile/agent-stdin.ts";
import { KeptConfigurations } from "../../../host/node/reconcile/kept-configurations.ts";

/** Time limit of one native step, in ms. A step and its undoing end before a DEL of the runtime gives up the wait for the container's lock. */
const stepMs = 20_000;

/** The work of one call. */
export type ContainerWork<T> = (call: Call) => Promise<Result<T>>;

/** Opens calls for the containers of one state directory. */
export class ContainerCalls {
  readonly #stateDirectory: string;
  readonly #node: ResidentNode;
  readonly #log: (lines: string) => void;
  readonly #configurations: KeptConfigurations;

  /** `stateDirectory`: absolute, without a slash at its end. `log` receives the log lines of a call. */
  constructor(stateDirectory: string, node: ResidentNode, log: (lines: string) => void) {
    this.#stateDirectory = stateDirectory;
    this.#node = node;
    this.#log = log;
    this.#configurations = new KeptConfigurations(stateDirectory);
  }

  /**
   * Runs `work` with the context that a runtime's call of this verb for the container would have. `work` takes the locks itself. Faults:
   * HOT_PLUG_UNAVAILABLE without a suitable agent or configuration, SHIM_GONE if the agent ends meanwhile, and those of `work`.
   */
  async run<T>(plan: JournalPlan, verb: "ADD" | "DEL", work: ContainerWork<T>): Promise<Result<T>> {
    const agent = this.#node.agent();
    if (agent === undefined) return failed(unavailable("no agent is connected"));
    if (!agent.runsPlugins)
      return failed(unavailable("the agent runs with --netlink-only and cannot enter a pod's network namespace"));
    const configured = agentStdin(this.#configurations, agent, plan);
    if (!configured.ok) return configured;
    if ("why" in configured.value) return failed(unavailable(configured.value.why));
    const { stdin } = configured.value;
    const stateDirectory = this.#stateDirectory;
    const { takeLock } = this.#node;
    const init = { agent, variables: callOfRunning(verb, plan), stdin, stateDirectory, takeLock, log: this.#log };
    return tryAgentCall(init, async (call) => {
      const kept = requireKept(call, stateDirectory, plan.network);
      if (!kept.ok) return kept;
      return work({ ...call, runStep: (chain, maxMs = Infinity) => call.runStep(chain, Math.min(stepMs, maxMs)) });
    });
  }
}

function unavailable(why: string): Fault {
  return fault("HOT_PLUG_UNAVAILABLE", `networks of running pods cannot be changed now: ${why}`);
}
