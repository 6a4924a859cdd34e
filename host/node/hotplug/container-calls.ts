// Calls of the daemon itself for running containers: through the agent, with the configuration that the runtime passed last.

import { resolve } from "node:path";
import { fault, type Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { CallContext } from "../../engine/call/call-context.ts";
import { callLocks } from "../../engine/call/call-locks.ts";
import { callOfRunning } from "../../engine/session/internal-call.ts";
import { ShimGone } from "../../protocol/shim.ts";
import type { JournalPlan } from "../../store/journal/entry.ts";
import type { TakeLock } from "../../store/locks/file-lock.ts";
import type { RoundAgent } from "../reconcile/clean.ts";
import { covers } from "../reconcile/cni-path.ts";
import { KeptConfigurations } from "../reconcile/kept-configurations.ts";

/** Time limit of one native step, in ms. A step and its undoing end before a DEL of the runtime gives up the wait for the container's lock. */
const stepMs = 20_000;
/** Maximum wait for a call of the runtime that holds the container's lock, in ms. */
const lockMs = 10_000;

/** The parts of the daemon that such calls use. */
export interface ContainerCallsInit {
  /** The agent that is connected now. */
  readonly agent: () => RoundAgent | undefined;
  readonly takeLock: TakeLock;
  /** Receives the log lines of a call. */
  readonly log: (lines: string) => void;
}

/** The work of one call. */
export type ContainerWork<T> = (context: CallContext) => Promise<Result<T>>;

/** Opens calls for the containers of one state directory. */
export class ContainerCalls {
  readonly #stateDirectory: string;
  readonly #init: ContainerCallsInit;
  readonly #configurations: KeptConfigurations;

  /** `stateDirectory`: absolute, without a slash at its end. */
  constructor(stateDirectory: string, init: ContainerCallsInit) {
    this.#stateDirectory = stateDirectory;
    this.#init = init;
    this.#configurations = new KeptConfigurations(stateDirectory);
  }

  /**
   * Runs `work` with the context that a runtime's call of this verb for the container would have. `work` takes the locks itself. Faults:
   * HOT_PLUG_UNAVAILABLE without a suitable agent or configuration, SHIM_GONE if the agent ends meanwhile, and those of `work`.
   */
  async run<T>(plan: JournalPlan, verb: "ADD" | "DEL", work: ContainerWork<T>): Promise<Result<T>> {
    const agent = this.#init.agent();
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
    const call = agent.openCall();
    let outcome: Result<T> = failed(unavailable("the call did not begin"));
    try {
      const { result, logText } = await call.runInternal(
        agent.requestOf(callOfRunning(verb, plan), Buffer.from(stdin.value)),
        async (opened) => {
          const { cniDir, name } = opened.configuration;
          if (resolve(cniDir) !== this.#stateDirectory || name !== plan.network) {
            return failed(
              fault("INTERNAL", `configuration ${plan.network} kept in ${this.#stateDirectory} is ${name} of ${cniDir}`),
            );
          }
          const { takeLock } = this.#init;
          const context: CallContext = {
            ...opened,
            locks: callLocks({ shim: agent.shim, takeLock }, this.#stateDirectory, () => lockMs),
            runStep: (chain, maxMs = Infinity) => opened.runStep(chain, Math.min(stepMs, maxMs)),
          };
          outcome = await work(context);
          return outcome.ok ? ok(undefined) : outcome;
        },
      );
      this.#init.log(logText);
      return result.ok ? outcome : result;
    } catch (error) {
      if (error instanceof ShimGone) return failed(error.fault);
      throw error;
    } finally {
      void call.end();
    }
  }
}

function unavailable(why: string): Fault {
  return fault("HOT_PLUG_UNAVAILABLE", `networks of running pods cannot be changed now: ${why}`);
}
