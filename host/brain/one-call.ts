// One call of a runtime from its request to its reply, with the calls that its plugins make meanwhile: the same in a one-shot brain
// and in a resident one.

import { printError } from "../../src/cni/error-json.ts";
import { defaultGoMaxProcs, type HostConfiguration } from "../../src/configuration/host-configuration.ts";
import { defaultWasm } from "../../src/configuration/wasm-configuration.ts";
import { fault } from "../../src/fault/fault.ts";
import { traceEnvironment } from "../../src/trace/trace-context.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { type Hands, HandsGone } from "../hands/hands.ts";
import type { Reply, Request } from "../hands/messages.ts";
import { failed, type Result } from "../../src/fault/result.ts";
import { answer, type BrainDeps, type CallInProgress } from "./answer.ts";
import type { CallContext } from "./call-context.ts";
import { CallLog } from "./call-log.ts";
import type { CallObserver } from "./call-observer.ts";
import { answerAsPlugin } from "./nested-call.ts";
import { PluginFinder } from "./plugin-finder.ts";
import { type DelegateRunner, type StepRunnerInit, stepRunner } from "./step-runner.ts";
import { openTrace } from "./trace.ts";

/** The name under which the hands are Plexus itself; under any other they may be a delegate. */
const ownName = "plexus";

/** What a delegate that is called as a plugin of its own runs with: there is no host configuration then. */
const bareConfiguration: StepRunnerInit["configuration"] = {
  stepTimeoutMs: 60_000,
  goMaxProcs: defaultGoMaxProcs,
  wasm: defaultWasm,
};

/** Milliseconds after the answer in which events are told. */
const mostEventsMs = 3_000;

/** What the program that a brain lives in gives to one call. */
export interface CallHost extends Pick<BrainDeps, "takeLock" | "writer"> {
  readonly hands: Hands;
  /** Opens the source of pods and definitions that the configuration names. */
  readonly cluster: (configuration: HostConfiguration, warn: (text: string) => void) => Promise<Cluster | undefined>;
  /** Opens what runs delegates, with the call's first one; `log` takes whole lines. */
  readonly openDelegates: (
    configuration: Pick<HostConfiguration, "wasm">,
    log: (line: string) => void,
  ) => Promise<DelegateRunner>;
  /** Whoever watches the call; nobody where it is absent. */
  readonly observe?: (request: Request) => CallObserver;
}

/** Serves one call. */
export class OneCall {
  readonly #host: CallHost;
  readonly #progress: CallInProgress = { configuration: undefined, plugins: undefined, fault: undefined };
  readonly #log = new CallLog(() => new Date());
  #observer: CallObserver | undefined;
  /** What answering took. */
  #ms: number | undefined;
  #delegates: Promise<DelegateRunner> | undefined;
  #cluster: Promise<Cluster | undefined> | undefined;

  constructor(host: CallHost) {
    this.#host = host;
  }

  /** Answers the call itself, which waited for its turn as long. Throws HandsGone only. */
  async answer(request: Request, waitedMs = 0): Promise<Omit<Reply, "kind">> {
    const started = performance.now();
    this.#observer = this.#host.observe?.(request);
    try {
      const environment = traceEnvironment(request.environment, this.#observer?.span);
      const reply = await this.#answered({ ...request, environment }, waitedMs);
      const ms = performance.now() - started;
      // A delegate that is called as a plugin of its own tells its fault to its step only.
      if (reply.status !== 0) this.#progress.fault ??= fault("PLUGIN_FAILED", `${request.name} failed`);
      this.#ms = ms;
      return { ...reply, stderr: this.#log.end(request, reply, this.#progress.configuration, ms) };
    } catch (error) {
      if (error instanceof HandsGone) this.#progress.fault = error.fault;
      this.#ms = performance.now() - started;
      throw error;
    }
  }

  /**
   * Does what no runtime asks for, with what `request` would have worked with if a runtime had sent it. Answers how that ended, and
   * what the runtime's log would have been told. Throws HandsGone only.
   */
  async act(
    request: Request,
    act: (context: CallContext) => Promise<Result<void>>,
  ): Promise<{ readonly ended: Result<void>; readonly told: string }> {
    const { openOwnCall } = await import("./own-call.ts");
    const started = performance.now();
    let ended: Result<void>;
    try {
      const context = openOwnCall(request, this.#deps(), this.#progress);
      ended = context.ok ? await act(context.value) : context;
    } catch (error) {
      if (error instanceof HandsGone) throw error;
      ended = failed(fault("INTERNAL", error instanceof Error ? error.message : String(error)));
    }
    const reply = ended.ok ? { status: 0, stdout: "" } : { status: 1, stdout: printError(ended.fault) };
    return { ended, told: this.#log.end(request, reply, this.#progress.configuration, performance.now() - started) };
  }

  /** What the call was configured with, once that is read. */
  get configuration(): HostConfiguration | undefined {
    return this.#progress.configuration;
  }

  /** Answers a call that one of its plugins makes. Throws HandsGone only. */
  nested(request: Request): Promise<Omit<Reply, "kind">> {
    const environment = traceEnvironment(request.environment);
    return guarded(() => this.#answerAsPlugin({ ...request, environment }, true), { fault: undefined });
  }

  /**
   * Tells who watches the call how it ended, and ends what it has with a cluster: events may still be told for a moment. To be called
   * once it is answered: the runtime waits for none of it.
   */
  async end(): Promise<void> {
    if (this.#ms !== undefined) this.#watched(this.#ms);
    const cluster = await this.#cluster?.catch(() => undefined);
    await cluster?.end(mostEventsMs);
  }

  #answered(request: Request, waitedMs: number): Promise<Omit<Reply, "kind">> {
    return guarded(
      async () =>
        (await this.#isDelegate(request))
          ? this.#answerAsPlugin(request, false)
          : answer(request, this.#deps(), this.#progress, waitedMs),
      this.#progress,
    );
  }

  #watched(ms: number): void {
    const { configuration, fault: reason } = this.#progress;
    this.#observer?.end({ ms, fault: reason, configuration });
  }

  async #isDelegate({ name, environment }: Request): Promise<boolean> {
    if (name === ownName || (environment.get("CNI_COMMAND") ?? "") === "") return false;
    return (await this.#host.hands.find({ type: name, componentFirst: true })).what === "component";
  }

  #answerAsPlugin(request: Request, nested: boolean): Promise<Omit<Reply, "kind">> {
    const configuration = this.#progress.configuration ?? bareConfiguration;
    const deps = this.#deps();
    const { observer, date, warn } = deps;
    const trace = openTrace({ path: this.#progress.configuration?.trace, observer, now: date, warn });
    return answerAsPlugin(request, (network, ifname) =>
      stepRunner(
        { ...deps, plugins: this.#components(), delegated: this.#finder(configuration), trace },
        { configuration, nest: "", network, ifname, nested, componentOnly: true },
      ),
    );
  }

  /** The components that the call was found to need before it began; others are looked for. */
  #components(): Pick<PluginFinder, "find"> {
    const own = new PluginFinder(this.#host.hands, true);
    return {
      find: async (type) => {
        const known = await this.#progress.plugins?.known(type);
        return known?.what === "component" ? known : own.find(type);
      },
    };
  }

  /** Finds what delegates call, as the call itself finds its plugins. */
  #finder({ wasm }: Pick<HostConfiguration, "wasm">): PluginFinder {
    return this.#progress.plugins ?? new PluginFinder(this.#host.hands, wasm.prefer);
  }

  #deps(): BrainDeps {
    const { hands, takeLock, writer } = this.#host;
    const warn = (text: string): void => {
      this.#log.warn(text);
      this.#observer?.line("plexus", text);
    };
    return {
      hands,
      delegates: {
        run: async (...args) => (await this.#openDelegates(args[0])).run(...args),
        admit: async (...args) => (await this.#openDelegates(args[0])).admit(...args),
      },
      takeLock,
      writer,
      cluster: (configuration) => (this.#cluster ??= this.#host.cluster(configuration, warn)),
      warn,
      now: () => performance.now(),
      date: () => new Date(),
      observer: this.#observer,
    };
  }

  #openDelegates(configuration: Pick<HostConfiguration, "wasm">): Promise<DelegateRunner> {
    this.#delegates ??= this.#host.openDelegates(configuration, (line) => {
      this.#log.delegate(line);
      this.#observer?.line("delegate", line);
    });
    return this.#delegates;
  }
}

/** A defect of ours becomes an answer too: a runtime must never be left with an empty one. */
async function guarded(
  act: () => Promise<Omit<Reply, "kind">>,
  progress: Pick<CallInProgress, "fault">,
): Promise<Omit<Reply, "kind">> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof HandsGone) throw error;
    const reason = error instanceof Error ? error : new Error(String(error));
    const internal = fault("INTERNAL", reason.message, { details: reason.stack ?? "" });
    progress.fault = internal;
    return { status: 1, stdout: printError(internal), stderr: "" };
  }
}
