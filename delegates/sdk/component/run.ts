// One call of a component on a simulated node: the node's admission, sandbox, limits and words.

import { printError } from "../../../src/cni/error-json.ts";
import { printVersionAnswer } from "../../../src/cni/version-answer.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { delegateFault, versionFault } from "../../../host/engine/steps/delegate-request.ts";
import type { Success } from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { successText } from "../../../host/sandbox/abi/success-record.ts";
import { Admission, type AdmittedComponent } from "../../../host/sandbox/admission/admit.ts";
import type { AuthorAids } from "../../../host/sandbox/admission/bound-module.ts";
import { resultOf } from "../../../host/sandbox/call-result.ts";
import { CompiledComponents } from "../../../host/sandbox/compile.ts";
import { callCapability } from "../../../host/sandbox/in-process.ts";
import type { Limits } from "../../../host/sandbox/limits.ts";
import { callGuest, type CallOutcome, callSuspendable, type Callable, type VerbCall } from "../../../host/sandbox/linker/call.ts";
import type { CapabilityCall } from "../../../host/sandbox/linker/link.ts";
import type { AnswerCall } from "./recorded-calls.ts";
import { simulatedNode, type SimulatedNode } from "../testing/simulated-node.ts";
import { allCapabilities } from "../testing/all-capabilities.ts";
import type { Vector } from "../testing/vector.ts";

/** One call. */
export interface RunInit {
  /** The plugin type: the name of the component's file without `.wasm`. */
  readonly type: string;
  readonly bytes: Uint8Array;
  /** Request and state of the node, in the form of a vector. */
  readonly vector: Vector;
  /** Names of the granted capabilities; undefined grants all. */
  readonly granted: readonly string[] | undefined;
  readonly limits: Limits;
}

/** The resources that a call used: `timeMs` in milliseconds, counts, and all others in bytes. */
export interface Usage {
  readonly timeMs: number;
  readonly memoryBytes: number;
  /** Undefined for a call that gave no answer. */
  readonly inputBytes: number | undefined;
  readonly outputBytes: number | undefined;
  readonly logBytes: number;
  readonly logLines: number;
  readonly importCalls: number;
  /** Calls of each function, such as `leases.reserve`. */
  readonly imports: Readonly<Record<string, number>>;
  /** The executed code, in bytes of the function bodies and loops that were entered; undefined if it was not counted. */
  readonly fuel: number | undefined;
}

/** The outcome of a call. */
export interface Run {
  /** Whether the call succeeded. */
  readonly succeeded: boolean;
  /** The text that a node gives the runtime: a result, a CNI error, or nothing. */
  readonly stdout: string;
  readonly log: readonly string[];
  /** Undefined if the component was not called. */
  readonly usage: Usage | undefined;
}

/** Prepares calls of one component: admitted and compiled. Fault: the refusal of a node, in its words. */
export function prepared({
  type,
  bytes,
  granted,
  limits,
  ...aids
}: Omit<RunInit, "vector"> & AuthorAids): Result<PreparedComponent> {
  const admission = new Admission();
  const withAids: Limits & AuthorAids = { ...limits, ...aids };
  const examined = admission.admit(bytes, { granted: granted ?? allCapabilities, limits: withAids });
  if (!examined.ok) return failed({ ...examined.fault, msg: `${type}: ${examined.fault.msg}` });
  return ok(new PreparedComponent(type, examined.value, limits));
}

/** A component that is ready for calls. */
export class PreparedComponent {
  readonly #type: string;
  readonly #component: AdmittedComponent;
  readonly #limits: Limits;
  readonly #compiled = new CompiledComponents();

  constructor(type: string, component: AdmittedComponent, limits: Limits) {
    this.#type = type;
    this.#component = component;
    this.#limits = limits;
  }

  /**
   * Calls the component on a fresh instance and a fresh node. `answer` answers its host calls, except the log's. Throws an Error for a
   * request that a node would not pass on.
   */
  call(vector: Vector, answer: AnswerCall = (_name, _args, ask) => ask()): Run {
    const version = cniVersionOf(vector);
    const unsupported = this.versionFault(version);
    if (unsupported !== undefined) return refusedRun(unsupported, version);
    return this.callOn(simulatedNode(vector), version, answer);
  }

  /** Calls the component on a fresh instance and this node. */
  callOn(node: SimulatedNode, version: string, answer: AnswerCall = (_name, _args, ask) => ask()): Run {
    const { outcome, usage } = this.#call(node, answer);
    return this.#runOf(node, version, outcome, usage);
  }

  /** As `callOn`, with the guest suspended at each import except the log's, so that other calls run meanwhile. */
  async callSuspendedOn(node: SimulatedNode, version: string): Promise<Run> {
    const atOnce = callsOf(node);
    const later: CapabilityCall = (capability, func, args) =>
      capability === "log"
        ? atOnce(capability, func, args)
        : new Promise((resolve) => setImmediate(resolve)).then(() => atOnce(capability, func, args));
    const outcome = await callSuspendable(this.#callable(), this.#terms(node), later).outcome;
    return this.#runOf(node, version, outcome, undefined);
  }

  /** The fault of a configuration in a version that the component does not declare; undefined if it declares the version. */
  versionFault(version: string): Fault | undefined {
    return versionFault(this.#type, this.#component.declaration, version);
  }

  #runOf(node: SimulatedNode, version: string, outcome: CallOutcome, usage: Usage | undefined): Run {
    const result = resultOf(this.#component, node.call.verb, outcome);
    if (!result.ok) return { ...refusedRun(delegateFault(this.#type, result.fault), version), log: node.log, usage };
    const success: Success | undefined = result.value.value;
    if (success === undefined) return { succeeded: true, stdout: "", log: node.log, usage };
    const printed = successText(success, version);
    if (!printed.ok) return { ...refusedRun(delegateFault(this.#type, printed.fault), version), log: node.log, usage };
    return { succeeded: true, stdout: printed.value, log: node.log, usage };
  }

  /** The answer to VERSION, which a node takes from the declaration. */
  version(): Run {
    const stdout = printVersionAnswer(this.#component.declaration.cniVersions);
    return { succeeded: true, stdout, log: [], usage: undefined };
  }

  #callable(): Callable {
    return this.#compiled.get(this.#component.key) ?? this.#compiled.add(this.#component);
  }

  #terms({ call }: SimulatedNode): VerbCall {
    const { capabilities: granted, ungranted } = this.#component;
    const request = { ...call.request, call: { ...call.request.call, granted } };
    return { verb: call.verb, request, limits: this.#limits, deadlineMs: deadlineMs + this.#limits.timeMs, ungranted };
  }

  #call(node: SimulatedNode, answer: AnswerCall): { readonly outcome: CallOutcome; readonly usage: Usage } {
    const imports: Record<string, number> = {};
    const { log } = node;
    const calls = callsOf(node);
    const started = performance.now();
    const outcome = callGuest(this.#callable(), this.#terms(node), (capability, func, args) => {
      const name = `${capability}.${func}`;
      imports[name] = (imports[name] ?? 0) + 1;
      const ask = (): unknown => calls(capability, func, args);
      return capability === "log" ? ask() : answer(name, args, ask);
    });
    const timeMs = performance.now() - started;
    const report = outcome.kind === "answered" ? outcome.report : undefined;
    const usage = {
      timeMs,
      memoryBytes: report?.memoryBytes ?? (outcome.kind === "broken" ? (outcome.abandonedBytes ?? 0) : 0),
      inputBytes: report?.inputBytes,
      outputBytes: report?.outputBytes,
      logBytes: log.reduce((sum, line) => sum + Buffer.byteLength(line.replace(/^[a-z]+: /, "")), 0),
      logLines: log.length,
      importCalls: Object.values(imports).reduce((sum, count) => sum + count, 0),
      imports,
      fuel: report?.fuel,
    };
    return { outcome, usage };
  }
}

function callsOf({ capabilities }: SimulatedNode): CapabilityCall {
  return (capability, func, args) => callCapability(capabilities, capability, func, args);
}

/** Milliseconds beyond the guest's own time, as on a node. */
const deadlineMs = 15_000;

/** The CNI error of a refusal. */
export function refusedRun(reason: Fault, cniVersion?: string): Run {
  return { succeeded: false, stdout: printError(reason, cniVersion), log: [], usage: undefined };
}

/** The version as a node reads it: absent or empty means 0.1.0. */
export function cniVersionOf({ stdin }: Pick<Vector, "stdin">): string {
  const named = stdin["cniVersion"] ?? "";
  if (typeof named !== "string") throw new Error("cniVersion must be a string");
  return named === "" ? "0.1.0" : named;
}
