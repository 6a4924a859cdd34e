// One call in a sandbox process, on the brain's side: what it may ask, what it has asked, and what comes of it.

import type { FaultKind } from "../../../src/fault/catalogue.ts";
import { conform, NonConforming } from "../abi/conform.ts";
import type { AbiVersion } from "../abi/versions.ts";
import { inertLine } from "../inert-text.ts";
import { callCapability } from "../in-process.ts";
import type { CallOutcome } from "../linker/call.ts";
import { isLogLevel } from "../linker/log-import.ts";
import type { CapabilityImports, GuestCall, Verb } from "../runner.ts";
import type { GuestClock } from "./guest-clock.ts";

export class GuestSession {
  readonly number: number;
  readonly call: GuestCall<Verb>;
  readonly clock: GuestClock;
  readonly outcome: Promise<CallOutcome>;
  /** Nobody waits for it any more: its guest is to be ended when it is next heard of. */
  abandoned = false;
  /** Its guest was told to end. */
  ending = false;
  /** The process had forgotten its component, and was sent it anew. */
  reloaded = false;
  private readonly settleWith: (outcome: CallOutcome) => void;
  private readonly abi: AbiVersion;
  private readonly imports: CapabilityImports;
  private readonly log: LineLog;
  private calls = 0;

  constructor(number: number, call: GuestCall<Verb>, abi: AbiVersion, imports: CapabilityImports, clock: GuestClock) {
    const { logBytes, logLines } = call.limits;
    this.number = number;
    this.call = call;
    this.clock = clock;
    this.abi = abi;
    this.imports = imports;
    this.log = new LineLog(logBytes, logLines, imports);
    ({ promise: this.outcome, resolve: this.settleWith } = Promise.withResolvers<CallOutcome>());
  }

  /** What the caller gets; only the first counts. */
  settle(outcome: CallOutcome): void {
    this.settleWith(outcome);
  }

  break(kind: FaultKind, message: string): void {
    this.settle({ kind: "broken", fault: kind, message });
  }

  writeLog(json: unknown): void {
    const write = this.log.admit(json);
    if (!this.abandoned) write();
  }

  /**
   * Answers an import, at once or later; throws what the capability throws. Throws NonConforming where it wasn't granted, doesn't exist
   * or has arguments of other types: all that the process has seen already, seen again.
   */
  ask(json: unknown): unknown {
    this.calls += 1;
    if (this.calls > this.call.limits.importCalls) throw new NonConforming("more imports than allowed");
    const { abi } = this;
    const { capability, func, args } = fields(json);
    if (typeof capability !== "string" || typeof func !== "string" || !this.call.component.capabilities.includes(capability))
      throw new NonConforming("a call of something that was not granted");
    const wit = witName(abi, capability, func);
    if (wit === undefined) throw new NonConforming("a call of something that was not granted");
    const type = abi.model.interfaces[capability]?.functions[wit];
    if (type === undefined || !Array.isArray(args) || args.length !== type.params.length)
      throw new NonConforming("a call with other arguments");
    const clean = type.params.map(([, use], index) => conform(abi.model, use, args[index]));
    return callCapability(this.imports, capability, func, clean);
  }
}

/** The WIT's name of a function that the host calls `func`; undefined: the capability has none such. */
function witName({ imports }: AbiVersion, capability: string, func: string): string | undefined {
  const functions = imports[capability];
  for (const name in functions) if (functions[name]?.host === func) return name;
  return undefined;
}

class LineLog {
  private bytes: number;
  private lines: number;
  private readonly imports: CapabilityImports;

  constructor(bytes: number, lines: number, imports: CapabilityImports) {
    // One line more than the guest has says that the rest is cut.
    this.lines = lines + 1;
    this.bytes = bytes + 256;
    this.imports = imports;
  }

  /** Counts a line, and answers what writes it. */
  admit(json: unknown): () => void {
    const { level, message } = fields(json);
    if (!isLogLevel(level) || typeof message !== "string") throw new NonConforming("a log line of another type");
    this.lines -= 1;
    this.bytes -= Buffer.byteLength(message);
    if (this.lines < 0 || this.bytes < 0) throw new NonConforming("more log than allowed");
    return () => void this.imports.log?.write(level, inertLine(message, message.length));
  }
}

/** The outcome that a process told. Throws NonConforming. */
export function readOutcome(json: unknown): CallOutcome {
  const { kind, answer: value, report, fault, message } = fields(json);
  if (kind === "broken" && typeof message === "string" && isSandboxFault(fault)) return { kind, fault, message };
  if (kind !== "answered") throw new NonConforming("an outcome of another type");
  const { memoryBytes, abandonedBytes, inputBytes, outputBytes, instantiateUs, totalUs } = fields(report);
  return {
    kind,
    answer: value,
    report: {
      memoryBytes: amount(memoryBytes),
      abandonedBytes: amount(abandonedBytes),
      inputBytes: amount(inputBytes),
      outputBytes: amount(outputBytes),
      instantiateUs: amount(instantiateUs),
      totalUs: amount(totalUs),
    },
  };
}

function amount(it: unknown): number {
  return typeof it === "number" && Number.isFinite(it) ? it : 0;
}

// The kinds that a call can end with inside the process.
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
  throw new NonConforming("no object");
}

function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
