// The session of one call: from the runtime's request to the reply, with the nested calls of its plugins. The one-shot engine and the
// daemon use the same session.

import { printError } from "../../../src/cni/error-json.ts";
import { type HostConfiguration, hostDefaults } from "../../../src/configuration/host-configuration.ts";
import { defaultWasm, type WasmConfiguration } from "../../../src/configuration/wasm-configuration.ts";
import { fault } from "../../../src/fault/fault.ts";
import { traceEnvironment } from "../../../src/trace/trace-context.ts";
import type { Cluster } from "../../cluster/cluster.ts";
import { type Shim, ShimGone } from "../../protocol/shim.ts";
import type { Reply, Request } from "../../protocol/messages.ts";
import { monotonicMs } from "../../system/monotonic-ms.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { CniCall } from "../../../src/cni/environment.ts";
import type { TracedCall } from "../../../src/chain-trace/chain-trace.ts";
import type { CallRecorder } from "../trace/call-recorder.ts";
import type { CallRecording } from "../trace/call-recording.ts";
import { configuredTerms, type TraceableCall, type TraceTerms } from "../trace/trace-terms.ts";
import { podName } from "./pod-identity.ts";
import { serveCall, type EngineDeps, type CallInProgress } from "./serve-call.ts";
import type { CallContext } from "./call-context.ts";
import { CallLog } from "./call-log.ts";
import type { CallObserver } from "./call-observer.ts";
import { answerAsPlugin, nestedChain } from "./nested-call.ts";
import { nestedCallDirectoryIn } from "./nested-call-directory.ts";
import { PluginLines } from "./plugin-output.ts";
import { PluginFinder } from "../steps/plugin-finder.ts";
import type { CallResources, DelegateRunner } from "../steps/call-resources.ts";
import { stepRunner } from "../steps/step-runner.ts";
import { openTrace } from "../steps/step-trace.ts";

/** The shim's file name as a delegating plugin. A runtime may also execute the shim under the name of a component. */
const pluginName = "plexus";

/** The settings for a component that a runtime calls directly, because such a call has no host configuration. */
const bareConfiguration: CallResources["configuration"] = {
  stepTimeoutMs: 60_000,
  goMaxProcs: hostDefaults.goMaxProcs,
  wasm: defaultWasm,
};

/** Maximum milliseconds that the session spends on Kubernetes events after the reply. */
const maxEventsMs = 3_000;

/** The dependencies of one session, which the one-shot engine or the daemon supplies. */
export interface CallHost extends Pick<EngineDeps, "takeLock" | "writer"> {
  readonly shim: Shim;
  /** Opens the source of pods and definitions that the configuration names. */
  readonly cluster: (configuration: HostConfiguration, warn: (text: string) => void) => Promise<Cluster | undefined>;
  /**
   * Opens the runner of delegates when the call needs its first one. `log` receives whole lines. `configuration`: undefined if a runtime calls a
   * component directly.
   */
  readonly openDelegates: (
    wasm: WasmConfiguration,
    log: (line: string) => void,
    configuration: HostConfiguration | undefined,
  ) => Promise<DelegateRunner>;
  /** Makes the call's observer. */
  readonly observe?: (request: Request) => CallObserver;
  /** The terms on which an administrator asked the daemon to record this call; undefined: the configuration decides. */
  readonly requestedTrace?: (call: TraceableCall) => TraceTerms | undefined;
}

/** Serves one call of a runtime, or runs one internal call. */
export class CallSession {
  readonly #host: CallHost;
  readonly #progress: CallInProgress = {
    configuration: undefined,
    deadline: undefined,
    plugins: undefined,
    chains: [],
    fault: undefined,
  };
  readonly #log = new CallLog(() => new Date());
  readonly #pluginLines = new PluginLines();
  #observer: CallObserver | undefined;
  /** Milliseconds from the request to the reply; undefined until the call is served. */
  #ms: number | undefined;
  #delegates: Promise<DelegateRunner> | undefined;
  #cluster: Promise<Cluster | undefined> | undefined;
  #recording: CallRecording | undefined;
  #reply: Pick<Reply, "status" | "stdout"> | undefined;

  constructor(host: CallHost) {
    this.#host = host;
  }

  /** Serves the runtime's call, which waited `waitedMs` milliseconds in the queue. Throws ShimGone only. */
  async serve(request: Request, waitedMs = 0): Promise<Omit<Reply, "kind">> {
    const started = monotonicMs();
    this.#observer = this.#host.observe?.(request);
    try {
      const environment = traceEnvironment(request.environment, this.#observer?.span);
      const reply = await this.#answer({ ...request, environment }, waitedMs);
      const ms = monotonicMs() - started;
      this.#reply = reply;
      // The fault of a directly called component is printed in the reply, but not noted in `progress`.
      if (reply.status !== 0) this.#progress.fault ??= fault("PLUGIN_FAILED", `${request.name} failed`);
      this.#ms = ms;
      return { ...reply, stderr: this.#log.end(request, reply, this.#progress.configuration, ms) };
    } catch (error) {
      if (error instanceof ShimGone) {
        this.#progress.fault = error.fault;
        // Nobody receives this reply; the chain trace shows why the call ended.
        this.#reply = { status: 1, stdout: printError(error.fault) };
      }
      this.#ms = monotonicMs() - started;
      throw error;
    }
  }

  /**
   * Runs an internal call: the daemon undoes or changes attachments without a runtime's call. `work` gets the context that a runtime's call
   * with `request` would have, and the runner of delegates. Returns the result, and the log's lines that a runtime would get on stderr. Throws ShimGone only.
   */
  async runInternal(
    request: Request,
    work: (context: CallContext, delegates: DelegateRunner) => Promise<Result<void>>,
  ): Promise<{ readonly result: Result<void>; readonly logText: string }> {
    const { openInternalCall } = await import("./internal-call.ts");
    const started = monotonicMs();
    let result: Result<void>;
    try {
      const deps = this.#deps();
      const context = openInternalCall(request, deps, this.#progress);
      if (context.ok) await this.#recordInternal(context.value, request);
      result = context.ok ? await work(context.value, deps.delegates) : context;
    } catch (error) {
      this.#recording?.abandon();
      if (error instanceof ShimGone) throw error;
      result = failed(fault("INTERNAL", error instanceof Error ? error.message : String(error)));
    }
    const reply = result.ok ? { status: 0, stdout: "" } : { status: 1, stdout: printError(result.fault) };
    this.#endRecording(reply, monotonicMs() - started);
    return { result, logText: this.#log.end(request, reply, this.#progress.configuration, monotonicMs() - started) };
  }

  /** The call's configuration; undefined until it is read. */
  get configuration(): HostConfiguration | undefined {
    return this.#progress.configuration;
  }

  /** Milliseconds that are left to a served call; Infinity if it has no bound, 0 if it never began. */
  get leftMs(): number {
    return this.#progress.deadline?.leftMs ?? 0;
  }

  /** Serves a nested call: a native plugin of this call has executed the shim under a component's name. Throws ShimGone only. */
  serveNested(request: Request): Promise<Omit<Reply, "kind">> {
    const environment = traceEnvironment(request.environment);
    return guarded(() => this.#callComponent({ ...request, environment }, true), { fault: undefined });
  }

  /**
   * Ends the session: writes the chain trace, reports the call's end to the observer, sends the queued Kubernetes events, and closes the
   * connections to the cluster. The caller replies before, so that the runtime need not wait.
   */
  async end(): Promise<void> {
    if (this.#reply === undefined) this.#recording?.abandon();
    else this.#endRecording(this.#reply, this.#ms ?? 0);
    if (this.#ms !== undefined) this.#reportEnd(this.#ms);
    const cluster = await this.#cluster?.catch(() => undefined);
    await cluster?.end(maxEventsMs);
  }

  #answer(request: Request, waitedMs: number): Promise<Omit<Reply, "kind">> {
    return guarded(
      async () =>
        (await this.#isComponentCall(request))
          ? this.#callComponent(request, false)
          : serveCall(request, this.#deps(), this.#progress, waitedMs),
      this.#progress,
    );
  }

  #reportEnd(ms: number): void {
    const { configuration, fault: reason } = this.#progress;
    this.#observer?.end({ ms, fault: reason, configuration });
  }

  /** Whether a runtime has executed the shim under a component's name, to call that component directly. */
  async #isComponentCall({ name, environment }: Request): Promise<boolean> {
    if (name === pluginName || (environment.get("CNI_COMMAND") ?? "") === "") return false;
    return (await this.#host.shim.find({ type: name, componentFirst: true })).what === "component";
  }

  /** Runs the component that the request names. `nested`: the caller is a native plugin of this call, not a runtime. */
  #callComponent(request: Request, nested: boolean): Promise<Omit<Reply, "kind">> {
    const configuration = this.#progress.configuration ?? bareConfiguration;
    const { shim, delegates, output, observer, date, now, warn } = this.#deps();
    const resources: CallResources = {
      shim,
      configuration,
      plugins: this.#components(),
      delegatedPlugins: this.#delegatedFinder(configuration),
      componentsOnly: true,
      delegates,
      nestedCallDirectory: nested ? nestedCallDirectoryIn(request.environment) : "",
      output,
      trace: openTrace({
        path: this.#progress.configuration?.trace,
        observer,
        recording: this.#progress,
        now: date,
        warn,
      }),
      now,
    };
    // A component that a runtime calls directly counts as a chain of one step.
    const origin = nested ? "nested-call" : "chain";
    const timeoutMs = configuration.stepTimeoutMs;
    return answerAsPlugin(request, (network, ifname) => {
      const chain = nested ? nestedChain(this.#progress.chains, network, ifname) : ok({ network, ifname });
      return chain.ok ? ok(stepRunner(resources, { ...chain.value, origin, timeoutMs })) : chain;
    });
  }

  /** Finds the component to call: among the plugins that a surrounding call has found, otherwise by a new look-up. */
  #components(): Pick<PluginFinder, "find"> {
    const finder = new PluginFinder(this.#host.shim, true);
    return {
      find: async (type) => {
        const known = await this.#progress.plugins?.known(type);
        return known?.what === "component" ? known : finder.find(type);
      },
    };
  }

  /** The finder for plugins that delegates call. A nested call uses its surrounding call's finder: both then find the same plugins. */
  #delegatedFinder({ wasm }: Pick<HostConfiguration, "wasm">): PluginFinder {
    return this.#progress.plugins ?? new PluginFinder(this.#host.shim, wasm.prefer);
  }

  #deps(): EngineDeps {
    const { shim, takeLock, writer } = this.#host;
    const warn = (text: string): void => {
      this.#log.warn(text);
      this.#observer?.line("plexus", text);
    };
    return {
      shim,
      delegates: {
        run: async (running, file) => (await this.#openDelegates()).run(running, file),
        admit: async (delegate, file, cniVersion) => (await this.#openDelegates()).admit(delegate, file, cniVersion),
      },
      takeLock,
      writer,
      cluster: (configuration) => (this.#cluster ??= this.#host.cluster(configuration, warn)),
      warn,
      output: (output) => {
        for (const line of this.#pluginLines.of(output)) {
          this.#log.plugin(line);
          this.#observer?.output(output, line);
        }
      },
      now: monotonicMs,
      date: () => new Date(),
      observer: this.#observer,
      beginRecording: (call, configuration, stdin) => this.#beginRecording(call, configuration, stdin),
    };
  }

  /** Begins the chain trace of this call; undefined if the call has none, which costs nothing. */
  #beginRecording(
    { verb, args, containerId, ifname, netns }: CniCall,
    configuration: Pick<HostConfiguration, "chainTrace" | "cniDir">,
    stdin: string,
  ): Promise<CallRecorder | undefined> | undefined {
    const { requestedTrace } = this.#host;
    if (configuration.chainTrace === undefined && requestedTrace === undefined) return undefined;
    const pod = podName(args);
    const terms = requestedTrace?.({ verb, pod }) ?? configuredTerms(configuration, { verb, pod });
    if (terms === undefined) return undefined;
    return this.#openRecording({ verb, containerId, ifname, netns, pod, args, stdin }, terms);
  }

  /** Imports lazily: nearly all calls have no chain trace. */
  async #openRecording(call: TracedCall, terms: TraceTerms): Promise<CallRecorder | undefined> {
    const { CallRecording } = await import("../trace/call-recording.ts");
    const begun = CallRecording.begin(call, terms, new Date(), monotonicMs);
    if (begun.ok) this.#recording = begun.value;
    else this.#deps().warn(`chain trace: ${begun.fault.msg}`);
    return this.#recording?.recorder;
  }

  async #recordInternal({ call, configuration }: CallContext, { stdin }: Request): Promise<void> {
    this.#progress.recorder = await this.#beginRecording(call, configuration, new TextDecoder().decode(stdin));
  }

  /** Writes the chain trace. A failure is a warning: the call has been answered. */
  #endRecording(reply: Pick<Reply, "status" | "stdout">, ms: number): void {
    const recording = this.#recording;
    this.#recording = undefined;
    try {
      const ended = recording?.end(reply, ms);
      if (ended?.ok === false) this.#deps().warn(`chain trace: ${ended.fault.msg}`);
    } catch (error) {
      // A defect of the recording must not end the daemon.
      this.#deps().warn(`chain trace: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #openDelegates(): Promise<DelegateRunner> {
    const { configuration } = this.#progress;
    const { wasm } = configuration ?? bareConfiguration;
    const log = (line: string): void => {
      this.#log.plugin(line);
      this.#observer?.line("delegate", line);
    };
    this.#delegates ??= this.#host.openDelegates(wasm, log, configuration);
    return this.#delegates;
  }
}

/** Turns an exception of Plexus into an INTERNAL error, so that the runtime never gets an empty answer. */
async function guarded(
  act: () => Promise<Omit<Reply, "kind">>,
  progress: Pick<CallInProgress, "fault">,
): Promise<Omit<Reply, "kind">> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof ShimGone) throw error;
    const reason = error instanceof Error ? error : new Error(String(error));
    const internal = fault("INTERNAL", reason.message, { details: reason.stack ?? "" });
    progress.fault = internal;
    return { status: 1, stdout: printError(internal), stderr: "" };
  }
}
