// One call of a runtime from its request to its reply, with the calls that its plugins make meanwhile: the same in a one-shot brain
// and in a resident one.

import { printError } from "../../src/cni/error-json.ts";
import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";
import { defaultWasm } from "../../src/configuration/wasm-configuration.ts";
import { fault } from "../../src/fault/fault.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { type Hands, HandsGone } from "../hands/hands.ts";
import type { Reply, Request } from "../hands/messages.ts";
import { answer, type BrainDeps, type CallInProgress } from "./answer.ts";
import { CallLog } from "./call-log.ts";
import { answerAsPlugin } from "./nested-call.ts";
import { PluginFinder } from "./plugin-finder.ts";
import { type DelegateRunner, type StepRunnerInit, stepRunner } from "./step-runner.ts";
import { openTrace } from "./trace.ts";

/** The name under which the hands are Plexus itself; under any other they may be a delegate. */
const ownName = "plexus";

/** What a delegate that is called as a plugin of its own runs with: there is no host configuration then. */
const bareConfiguration: StepRunnerInit["configuration"] = {
  stepTimeoutMs: 60_000,
  wasm: defaultWasm,
};

/** Milliseconds after the answer in which events are told. */
const mostEventsMs = 3_000;

/** What the program that a brain lives in gives to one call. */
export interface CallHost extends Pick<BrainDeps, "takeLock"> {
  readonly hands: Hands;
  /** Opens the source of pods and definitions that the configuration names. */
  readonly cluster: (configuration: HostConfiguration, warn: (text: string) => void) => Promise<Cluster | undefined>;
  /** Opens what runs delegates, with the call's first one; `log` takes whole lines. */
  readonly openDelegates: (
    configuration: Pick<HostConfiguration, "wasm">,
    log: (line: string) => void,
  ) => Promise<DelegateRunner>;
}

/** Serves one call. */
export class OneCall {
  readonly #host: CallHost;
  readonly #progress: CallInProgress = { configuration: undefined };
  readonly #log = new CallLog(() => new Date());
  #delegates: Promise<DelegateRunner> | undefined;
  #cluster: Promise<Cluster | undefined> | undefined;

  constructor(host: CallHost) {
    this.#host = host;
  }

  /** Answers the call itself. Throws HandsGone only. */
  async answer(request: Request): Promise<Omit<Reply, "kind">> {
    const started = performance.now();
    const reply = await guarded(async () =>
      (await this.#isDelegate(request)) ? this.#answerAsPlugin(request, false) : answer(request, this.#deps(), this.#progress),
    );
    return { ...reply, stderr: this.#log.end(request, reply, this.#progress.configuration, performance.now() - started) };
  }

  /** Answers a call that one of its plugins makes. Throws HandsGone only. */
  nested(request: Request): Promise<Omit<Reply, "kind">> {
    return guarded(() => this.#answerAsPlugin(request, true));
  }

  /** Ends what the call has with a cluster: events may still be told for a moment. To be called once it is answered. */
  async end(): Promise<void> {
    const cluster = await this.#cluster?.catch(() => undefined);
    await cluster?.end(mostEventsMs);
  }

  async #isDelegate({ name, environment }: Request): Promise<boolean> {
    if (name === ownName || (environment.get("CNI_COMMAND") ?? "") === "") return false;
    return (await this.#host.hands.find({ type: name, componentFirst: true })).what === "component";
  }

  #answerAsPlugin(request: Request, nested: boolean): Promise<Omit<Reply, "kind">> {
    const configuration = this.#progress.configuration ?? bareConfiguration;
    const deps = this.#deps();
    const trace = openTrace(this.#progress.configuration?.trace, deps.date, deps.warn);
    return answerAsPlugin(request, (network, ifname) =>
      stepRunner(
        { ...deps, plugins: new PluginFinder(deps.hands, true), trace },
        { configuration, nest: "", network, ifname, nested, componentOnly: true },
      ),
    );
  }

  #deps(): BrainDeps {
    const { hands, takeLock } = this.#host;
    const warn = (text: string): void => this.#log.warn(text);
    return {
      hands,
      delegates: {
        run: async (...args) => (await this.#openDelegates(args[0])).run(...args),
        admit: async (...args) => (await this.#openDelegates(args[0])).admit(...args),
      },
      takeLock,
      cluster: (configuration) => (this.#cluster ??= this.#host.cluster(configuration, warn)),
      warn,
      now: () => performance.now(),
      date: () => new Date(),
    };
  }

  #openDelegates(configuration: Pick<HostConfiguration, "wasm">): Promise<DelegateRunner> {
    this.#delegates ??= this.#host.openDelegates(configuration, (line) => this.#log.delegate(line));
    return this.#delegates;
  }
}

/** A defect of ours becomes an answer too: a runtime must never be left with an empty one. */
async function guarded(act: () => Promise<Omit<Reply, "kind">>): Promise<Omit<Reply, "kind">> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof HandsGone) throw error;
    const reason = error instanceof Error ? error : new Error(String(error));
    const internal = fault("INTERNAL", reason.message, { details: reason.stack ?? "" });
    return { status: 1, stdout: printError(internal), stderr: "" };
  }
}
