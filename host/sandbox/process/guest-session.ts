// The engine's side of one call in a sandbox process: checks its imports and its log, and keeps its outcome.

import type { FaultKind } from "../../../src/fault/catalogue.ts";
import { conform, NonConforming } from "../abi/conform.ts";
import type { AbiVersion } from "../abi/versions.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import { callCapability } from "../in-process.ts";
import type { CallOutcome } from "../linker/call.ts";
import { maxLastLines } from "../linker/guest-output.ts";
import { isLogLevel } from "../linker/log-import.ts";
import type { CapabilityImports, GuestCall, Verb } from "../runner.ts";
import type { GuestClock } from "./guest-clock.ts";

/** One call in a sandbox process. */
export class GuestSession {
  readonly number: number;
  readonly call: GuestCall<Verb>;
  readonly clock: GuestClock;
  readonly outcome: Promise<CallOutcome>;
  /** The call was abandoned, and its guest must end. */
  abandoned = false;
  /** ABANDON was sent. */
  abandonSent = false;
  /** The component was sent again, because the process answered UNKNOWN. */
  reloaded = false;
  readonly #settleWith: (outcome: CallOutcome) => void;
  readonly #abi: AbiVersion;
  readonly #imports: CapabilityImports;
  readonly #log: LineLog;
  #importCalls = 0;

  constructor(number: number, call: GuestCall<Verb>, abi: AbiVersion, imports: CapabilityImports, clock: GuestClock) {
    const { logBytes, logLines } = call.limits;
    this.number = number;
    this.call = call;
    this.clock = clock;
    this.#abi = abi;
    this.#imports = imports;
    this.#log = new LineLog(logBytes, logLines, imports);
    ({ promise: this.outcome, resolve: this.#settleWith } = Promise.withResolvers<CallOutcome>());
  }

  /** Sets the outcome; only the first call has an effect. */
  settle(outcome: CallOutcome): void {
    this.#settleWith(outcome);
  }

  /** Sets a fault as the outcome. */
  fail(kind: FaultKind, message: string): void {
    this.settle({ kind: "broken", fault: kind, message });
  }

  /** Writes a line of log, unless the call was abandoned. Throws NonConforming. */
  writeLog(json: unknown): void {
    const write = this.#log.check(json);
    if (!this.abandoned) write();
  }

  /**
   * Calls the capability of an import; the answer may be a promise. Throws NonConforming for a function that was not granted or does not
   * exist, and for arguments of other types. The process has checked the same, but may be compromised. Also throws the capability's
   * exceptions.
   */
  callImport(json: unknown): unknown {
    this.#importCalls += 1;
    if (this.#importCalls > this.call.limits.importCalls) throw new NonConforming("more imports than allowed");
    const abi = this.#abi;
    const { capability, func, args } = fields(json);
    if (typeof capability !== "string" || typeof func !== "string" || !this.call.component.capabilities.includes(capability))
      throw new NonConforming("a call of a function that was not granted");
    const wit = witName(abi, capability, func);
    if (wit === undefined) throw new NonConforming("a call of a function that was not granted");
    const type = abi.model.interfaces[capability]?.functions[wit];
    if (type === undefined || !Array.isArray(args) || args.length !== type.params.length)
      throw new NonConforming("a call with a wrong number of arguments");
    const checked = type.params.map(([, use], index) => conform(abi.model, use, args[index]));
    return callCapability(this.#imports, capability, func, checked);
  }
}

/** The WIT name of the function that the host names `func`; undefined if the capability has no such function. */
function witName({ imports }: AbiVersion, capability: string, func: string): string | undefined {
  const functions = imports[capability];
  for (const name in functions) if (functions[name]?.host === func) return name;
  return undefined;
}

/** Checks a call's log lines against its budget. */
class LineLog {
  #bytes: number;
  #lines: number;
  readonly #imports: CapabilityImports;

  constructor(bytes: number, lines: number, imports: CapabilityImports) {
    // One further line reports that the rest is cut.
    this.#lines = lines + 1;
    this.#bytes = bytes + 256;
    this.#imports = imports;
  }

  /** Counts a line; answers the function that writes it. Throws NonConforming. */
  check(json: unknown): () => void {
    const { level, message } = fields(json);
    if (!isLogLevel(level) || typeof message !== "string") throw new NonConforming("a log line that is not a level and a text");
    this.#lines -= 1;
    this.#bytes -= Buffer.byteLength(message);
    if (this.#lines < 0 || this.#bytes < 0) throw new NonConforming("more log than allowed");
    return () => void this.#imports.log?.write(level, inertLine(message, message.length));
  }
}

/** Checks the outcome from a process. Throws NonConforming. */
export function readOutcome(json: unknown): CallOutcome {
  const { kind, answer: value, report, fault, message, lastLines } = fields(json);
  if (kind === "broken" && typeof message === "string" && isSandboxFault(fault))
    return { kind, fault, message, ...(typeof lastLines === "string" ? { lastLines: lastLines.slice(0, maxLastLines) } : {}) };
  if (kind !== "answered") throw new NonConforming("an outcome of an unknown kind");
  const { memoryBytes, abandonedBytes, inputBytes, outputBytes, instantiateUs, totalUs } = fields(report);
  return {
    kind,
    answer: value,
    report: {
      memoryBytes: numberOrZero(memoryBytes),
      abandonedBytes: numberOrZero(abandonedBytes),
      inputBytes: numberOrZero(inputBytes),
      outputBytes: numberOrZero(outputBytes),
      instantiateUs: numberOrZero(instantiateUs),
      totalUs: numberOrZero(totalUs),
    },
  };
}

function numberOrZero(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

// The faults with which the sandbox process may end a call.
const sandboxFaults: readonly FaultKind[] = [
  "ABI_VIOLATED",
  "COMPONENT_REFUSED",
  "DELEGATE_TRAPPED",
  "INTERNAL",
  "LIMIT_INPUT",
  "LIMIT_LOG",
  "LIMIT_MEMORY",
  "LIMIT_OUTPUT",
  "LIMIT_RECURSION",
  "LIMIT_TIME",
];

function isSandboxFault(kind: unknown): kind is FaultKind {
  return sandboxFaults.some((known) => known === kind);
}

function fields(json: unknown): Readonly<Record<string, unknown>> {
  if (isObject(json)) return json;
  throw new NonConforming("a value that is not an object");
}

function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
