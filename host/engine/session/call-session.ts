// The session of one call: from the runtime's request to the reply, with the nested calls of its plugins. The one-shot engine and the
// daemon use the same session.

import type { TracedCall } from "../../../src/chain-trace/chain-trace.ts";
import { printError } from "../../../src/cni/error-json.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, type Result } from "../../../src/fault/result.ts";
import { traceEnvironment } from "../../../src/trace/trace-context.ts";
import type { Cluster } from "../../cluster/cluster.ts";
import type { CallAnswer, PluginAnswer, Request } from "../../protocol/messages.ts";
import { type Shim, ShimGone } from "../../protocol/shim.ts";
import type { Call } from "../call.ts";
import type { DelegateRunner } from "../../capabilities/delegate-runner.ts";
import { podName } from "../../../src/kube/pod-identity.ts";
import { CallEvents, type CallRecording, type RecordCall, type Subscriber } from "../events/call-events.ts";
import { CallLog, PluginLines } from "../events/call-log.ts";
import type { Node } from "../node.ts";
import { hasKey } from "../planned/feature-hooks.ts";
import { bareConfiguration, runDirect, runNested } from "./component-call.ts";
import type { SessionParts } from "./open-call.ts";
import { serveCall } from "./serve-call.ts";

/** Maximum milliseconds that the session spends on Kubernetes events after the reply. */
const maxEndMs = 3_000;

/** The shim's file name as a delegating plugin. A runtime may also execute the shim under the name of a component. */
const pluginName = "plexus";

/** Serves one call of a runtime, or runs one internal call. */
export class CallSession {
  readonly #node: Node;
  readonly #shim: Shim;
  readonly #events = new CallEvents();
  readonly #log: CallLog;
  readonly #pluginLines = new PluginLines();
  readonly #parts: SessionParts;
  #observer: Subscriber | undefined;
  #configuration: HostConfiguration | undefined;
  /** Undefined until the call is open. */
  #call: Call | undefined;
  #fault: Fault | undefined;
  /** Milliseconds from the request to the reply; undefined until the call is served. */
  #ms: number | undefined;
  #delegates: Promise<DelegateRunner> | undefined;
  #cluster: Promise<Cluster | undefined> | undefined;
  #recording: CallRecording | undefined;
  #reply: PluginAnswer | undefined;

  constructor(node: Node, shim: Shim) {
    this.#node = node;
    this.#shim = shim;
    this.#log = new CallLog(node.clock.date);
    this.#events.subscribe(this.#log);
    this.#parts = {
      node,
      shim,
      events: this.#events,
      delegates: {
        run: async (step, file) => (await this.#openDelegates()).run(step, file),
        admit: async (delegate, file, cniVersion) => (await this.#openDelegates()).admit(delegate, file, cniVersion),
      },
      cluster: (configuration) => (this.#cluster ??= node.openCluster(configuration, (text) => this.#events.warn(text))),
      output: (output) => {
        const { type, ifname } = output;
        for (const line of this.#pluginLines.of(output)) this.#events.tell({ what: "plugin-printed", type, ifname, line });
      },
    };
  }

  /** Serves the runtime's call, which waited `waitedMs` milliseconds in the queue. Throws ShimGone only. */
  async serve(request: Request, waitedMs = 0): Promise<CallAnswer> {
    const { now } = this.#node.clock;
    const started = now();
    this.#observer = this.#node.observe?.(request);
    this.#events.subscribe(this.#observer);
    try {
      const environment = traceEnvironment(request.environment, this.#observer?.span);
      const reply = await this.#answer({ ...request, environment }, waitedMs);
      const ms = now() - started;
      this.#reply = reply;
      // The fault of a directly called component is printed in the reply, but not noted.
      if (reply.status !== 0) this.#fault ??= fault("PLUGIN_FAILED", `${request.name} failed`);
      this.#ms = ms;
      return { ...reply, stderr: this.#log.end(request, reply, this.#configuration, ms) };
    } catch (error) {
      if (error instanceof ShimGone) {
        this.#fault = error.fault;
        // This reply reaches no shim; the chain trace shows why the call ended.
        this.#reply = { status: 1, stdout: printError(error.fault) };
      }
      this.#ms = now() - started;
      throw error;
    }
  }

  /**
   * Runs an internal call: the daemon undoes or changes attachments without a runtime's call. `work` gets the call that a runtime's request
   * `request` would open. Returns the result, and the log's lines that a runtime would get on stderr. Throws ShimGone only.
   */
  async runInternal<T>(
    request: Request,
    work: (call: Call) => Promise<Result<T>>,
  ): Promise<{ readonly result: Result<T>; readonly logText: string }> {
    const { openInternalCall } = await import("./internal-call.ts");
    const { now } = this.#node.clock;
    const started = now();
    let result: Result<T>;
    try {
      const opened = openInternalCall(request, this.#parts);
      if (opened.ok) {
        this.#configuration = opened.value.configuration;
        await this.#opened(opened.value, new TextDecoder().decode(request.stdin));
      }
      result = opened.ok ? await work(opened.value) : opened;
    } catch (error) {
      this.#recording?.abandon();
      if (error instanceof ShimGone) throw error;
      result = failed(fault("INTERNAL", error instanceof Error ? error.message : String(error)));
    }
    const reply = result.ok ? { status: 0, stdout: "" } : { status: 1, stdout: printError(result.fault) };
    this.#endRecording(reply, now() - started);
    return { result, logText: this.#log.end(request, reply, this.#configuration, now() - started) };
  }

  /** The call's configuration; undefined until it is read. */
  get configuration(): HostConfiguration | undefined {
    return this.#configuration;
  }

  /** Milliseconds that are left to a served call; Infinity if it has no bound, 0 if it never began. */
  get leftMs(): number {
    return this.#call?.deadline.leftMs ?? 0;
  }

  /** Serves a nested call: a native plugin of this call has executed the shim under a component's name. Throws ShimGone only. */
  serveNested(request: Request): Promise<CallAnswer> {
    const environment = traceEnvironment(request.environment);
    return this.#guarded(
      () => runNested({ ...request, environment }, this.#parts, this.#call),
      () => {},
    );
  }

  /**
   * Ends the session: writes the chain trace, tells the call's end, sends the queued Kubernetes events, and closes the
   * connections to the cluster. The caller replies before, so that the runtime need not wait.
   */
  async end(): Promise<void> {
    if (this.#reply === undefined) this.#recording?.abandon();
    else this.#endRecording(this.#reply, this.#ms ?? 0);
    if (this.#ms !== undefined)
      this.#events.tell({ what: "call-ended", ms: this.#ms, fault: this.#fault, configuration: this.#configuration });
    const cluster = await this.#cluster?.catch(() => undefined);
    await cluster?.end(maxEndMs);
  }

  #answer(request: Request, waitedMs: number): Promise<CallAnswer> {
    const noteFault = (reason: Fault): void => {
      this.#fault = reason;
    };
    return this.#guarded(async () => {
      if (await isComponentCall(request, this.#shim)) return runDirect(request, this.#parts);
      const served = {
        configured: (configuration: HostConfiguration): void => {
          this.#configuration = configuration;
        },
        opened: (call: Call, stdin: string) => this.#opened(call, stdin),
        failed: noteFault,
      };
      return serveCall(request, this.#parts, served, waitedMs);
    }, noteFault);
  }

  /** Notes the open call, and begins its recording. Undefined if the call has none, which costs nothing. */
  #opened(call: Call, stdin: string): Promise<void> | undefined {
    this.#call = call;
    const { verb, containerId, ifname, netns, args } = call.request;
    const traced: TracedCall = { verb, containerId, ifname, netns, pod: podName(args), args, stdin };
    for (const { key, record } of this.#node.recorders) {
      const begun =
        key === undefined || hasKey(call.configuration, key) ? record(traced, call.configuration, call.clock) : undefined;
      if (begun !== undefined) return this.#record(begun);
    }
    return undefined;
  }

  async #record(begun: NonNullable<ReturnType<RecordCall>>): Promise<void> {
    const recording = await begun;
    if (!recording.ok) return this.#events.warn(`chain trace: ${recording.fault.msg}`);
    this.#recording = recording.value;
    this.#events.subscribe(recording.value?.subscriber);
  }

  /** Writes the chain trace. A failure is a warning: the call has been answered. */
  #endRecording(reply: PluginAnswer, ms: number): void {
    const recording = this.#recording;
    this.#recording = undefined;
    try {
      const ended = recording?.end(reply, ms);
      if (ended?.ok === false) this.#events.warn(`chain trace: ${ended.fault.msg}`);
    } catch (error) {
      // A defect of the recording must not end the daemon.
      this.#events.warn(`chain trace: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #openDelegates(): Promise<DelegateRunner> {
    const configuration = this.#configuration;
    const { wasm } = configuration ?? bareConfiguration();
    const log = (line: string): void => this.#events.tell({ what: "component-logged", line });
    const [shim, node] = [this.#shim, this.#node];
    return (this.#delegates ??= node.openDelegates({ shim, takeLock: node.takeLock(shim), wasm, log, configuration }));
  }

  /** Turns an exception of Plexus into an INTERNAL error, so that the runtime never gets an empty answer. */
  async #guarded(act: () => Promise<CallAnswer>, noteFault: (reason: Fault) => void): Promise<CallAnswer> {
    try {
      return await act();
    } catch (error) {
      if (error instanceof ShimGone) throw error;
      const reason = error instanceof Error ? error : new Error(String(error));
      const internal = fault("INTERNAL", reason.message, { details: reason.stack ?? "" });
      noteFault(internal);
      return { status: 1, stdout: printError(internal), stderr: "" };
    }
  }
}

/** Whether a runtime has executed the shim under a component's name, to call that component directly. */
async function isComponentCall({ name, environment }: Request, shim: Shim): Promise<boolean> {
  if (name === pluginName || (environment.get("CNI_COMMAND") ?? "") === "") return false;
  return (await shim.find({ type: name, componentFirst: true })).what === "component";
}
