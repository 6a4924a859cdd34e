// Calls of the daemon itself for running containers: through the agent, with the configuration that the runtime passed last.

import { resolve } from "node:path";
import { fault, type Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { Call } from "../../../host/engine/call.ts";
import { callLocks } from "../../../host/engine/call/call-locks.ts";
import { callOfRunning } from "../../../host/engine/session/internal-call.ts";
import { ShimGone } from "../../../host/protocol/shim.ts";
import type { JournalPlan } from "../../../host/store/journal/entry.ts";
import type { ResidentNode } from "../../../host/node/resident-node.ts";
import { covers } from "../../../host/node/reconcile/cni-path.ts";
import { KeptConfigurations } from "../../../host/node/reconcile/kept-configurations.ts";

/** Time limit of one native step, in ms. A step and its undoing end before a DEL of the runtime gives up the wait for the container's lock. */
const stepMs = 20_000;
/** Maximum wait for a call of the runtime that holds the container's lock, in ms. */
const lockMs = 10_000;

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
    const stdin = this.#configurations.load(plan.network);
    if (!stdin.ok) return stdin;
    if (stdin.value === undefined) {
      return failed(unavailable(`the daemon has not yet received configuration ${plan.network} in a call of the runtime`));
    }
    const path = agent.environment.get("CNI_PATH") ?? "";
    if (!covers(path, plan.cniPath)) {
      return failed(
        unavailable(`the agent's CNI_PATH (${path}) lacks a directory of the attachment's CNI_PATH (${plan.cniPath})`),
      );
    }
    const session = agent.openCall();
    let outcome: Result<T> = failed(unavailable("the call did not begin"));
    try {
      const { result, logText } = await session.runInternal(
        agent.requestOf(callOfRunning(verb, plan), Buffer.from(stdin.value)),
        async (opened) => {
          const { cniDir, name } = opened.configuration;
          if (resolve(cniDir) !== this.#stateDirectory || name !== plan.network) {
            return failed(
              fault("INTERNAL", `configuration ${plan.network} kept in ${this.#stateDirectory} is ${name} of ${cniDir}`),
            );
          }
          const { takeLock } = this.#node;
          const call: Call = {
            ...opened,
            locks: callLocks({ shim: agent.shim, takeLock }, this.#stateDirectory, () => lockMs),
            runStep: (chain, maxMs = Infinity) => opened.runStep(chain, Math.min(stepMs, maxMs)),
          };
          outcome = await work(call);
          return outcome.ok ? ok(undefined) : outcome;
        },
      );
      this.#log(logText);
      return result.ok ? outcome : result;
    } catch (error) {
      if (error instanceof ShimGone) return failed(error.fault);
      throw error;
    } finally {
      void session.end();
    }
  }
}

function unavailable(why: string): Fault {
  return fault("HOT_PLUG_UNAVAILABLE", `networks of running pods cannot be changed now: ${why}`);
}
