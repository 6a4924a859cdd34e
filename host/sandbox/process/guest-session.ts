// One call in a sandbox process: sends it, answers its imports, ends it when its time is up.

import type { FaultKind } from "../../../src/fault/catalogue.ts";
import { conform, NonConforming } from "../abi/conform.ts";
import { abiVersions, type AbiVersion } from "../abi/versions.ts";
import type { AdmittedComponent } from "../admission/admit.ts";
import { inertLine } from "../inert-text.ts";
import { callCapability } from "../in-process.ts";
import type { CallOutcome } from "../linker/call.ts";
import { isLogLevel } from "../linker/log-import.ts";
import type { CapabilityImports, GuestCall, Verb } from "../runner.ts";
import { frameTypes } from "./frames.ts";
import { GuestClock } from "./guest-clock.ts";
import type { CallMessage, LoadMessage } from "./messages.ts";
import type { SandboxProcess } from "./sandbox-process.ts";

// JSON writes one byte as up to six.
const escaped = 6;

/** Runs the call. `healthy` says whether the process may serve another one. */
export async function runInProcess<V extends Verb>(
  process: SandboxProcess,
  call: GuestCall<V>,
  imports: CapabilityImports,
): Promise<{ readonly outcome: CallOutcome; readonly healthy: boolean }> {
  const { component, verb, request, limits, deadlineMs } = call;
  const abi = abiVersions[component.plan.abi];
  if (abi === undefined) return { outcome: broken("INTERNAL", `speaks ABI ${component.plan.abi}`), healthy: true };
  const clock = new GuestClock(limits.timeMs, deadlineMs, () => process.kill());
  process.allow(escaped * Math.max(limits.outputBytes, limits.logBytes));
  const message: CallMessage = { key: component.key, verb, request, limits, deadlineMs };
  const start = () => {
    loadInto(process, component);
    process.send(frameTypes.CALL, message);
    clock.start();
  };
  const { promise: gone, resolve: end } = Promise.withResolvers<void>();
  const forget = process.onEnd(end);
  const log = new LineLog(limits.logBytes, limits.logLines, imports);
  start();
  try {
    for (let calls = 0; ;) {
      const frame = await process.receive();
      if (frame === undefined) return { outcome: await endedBy(process, clock, limits.timeMs, deadlineMs), healthy: false };
      if (frame.type === frameTypes.OUTCOME) {
        const outcome = readOutcome(frame.json);
        return { outcome, healthy: outcome.kind === "answered" && !process.chatters };
      }
      clock.pause();
      if (frame.type === frameTypes.LOG) log.write(frame.json);
      else if (frame.type === frameTypes.UNKNOWN && process.loaded.delete(component.key)) {
        start();
        continue;
      } else if (frame.type === frameTypes.IMPORT) {
        calls += 1;
        if (calls > limits.importCalls) throw new NonConforming("more imports than allowed");
        const value = await Promise.race([answer(abi, component.capabilities, frame.json, imports), gone]);
        // When the process has ended meanwhile, the next receive says so; the capability may go on, but nobody waits for it.
        process.send(frameTypes.ANSWER, { value });
      } else throw new NonConforming(`a frame of type ${frame.type}`);
      clock.start();
    }
  } catch (error) {
    process.kill();
    const text = error instanceof Error ? error.message : String(error);
    const outcome =
      error instanceof NonConforming
        ? broken("ABI_VIOLATED", `its sandbox process sent ${text}`)
        : broken("INTERNAL", `could not be served: ${text}`);
    return { outcome, healthy: false };
  } finally {
    forget();
    clock.stop();
  }
}

/** Sends the component's code, unless the process has it; it compiles it before it takes the next call. */
export function loadInto(process: SandboxProcess, { key, plan, modules }: AdmittedComponent): void {
  if (process.loaded.has(key)) return;
  const load: LoadMessage = { key, plan, sizes: modules.map(({ length }) => length) };
  process.send(frameTypes.LOAD, load, modules);
  process.loaded.add(key);
}

function broken(kind: FaultKind, message: string): CallOutcome {
  return { kind: "broken", fault: kind, message };
}

async function endedBy(process: SandboxProcess, clock: GuestClock, timeMs: number, deadlineMs: number): Promise<CallOutcome> {
  if (clock.expired === "time") return broken("LIMIT_TIME", `used up its ${timeMs} ms`);
  if (clock.expired === "deadline") return broken("LIMIT_TIME", `did not end within the call's ${Math.round(deadlineMs)} ms`);
  const { reason } = await process.ended;
  return broken("SANDBOX_UNAVAILABLE", `lost its sandbox process, which ${reason}`);
}

// The capability was granted, the function exists, the arguments are of its types: all seen here again.
async function answer(abi: AbiVersion, granted: readonly string[], json: unknown, imports: CapabilityImports): Promise<unknown> {
  const { capability, func, args } = fields(json);
  const [wit, glue] =
    Object.entries(typeof capability === "string" && granted.includes(capability) ? (abi.imports[capability] ?? {}) : {}).find(
      ([, { host }]) => host === func,
    ) ?? [];
  if (typeof capability !== "string" || wit === undefined || glue === undefined)
    throw new NonConforming("a call of something that was not granted");
  const type = abi.model.interfaces[capability]?.functions[wit];
  if (type === undefined || !Array.isArray(args) || args.length !== type.params.length)
    throw new NonConforming("a call with other arguments");
  const clean = type.params.map(([, use], index) => conform(abi.model, use, args[index]));
  return callCapability(imports, capability, glue.host, clean);
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

  write(json: unknown): void {
    const { level, message } = fields(json);
    if (!isLogLevel(level) || typeof message !== "string") throw new NonConforming("a log line of another type");
    this.lines -= 1;
    this.bytes -= Buffer.byteLength(message);
    if (this.lines < 0 || this.bytes < 0) throw new NonConforming("more log than allowed");
    void this.imports.log?.write(level, inertLine(message, message.length));
  }
}

function readOutcome(json: unknown): CallOutcome {
  const { kind, answer: value, report, fault, message } = fields(json);
  if (kind === "broken" && typeof message === "string" && isSandboxFault(fault)) return broken(fault, message);
  if (kind !== "answered") throw new NonConforming("an outcome of another type");
  const { memoryBytes, abandonedBytes, inputBytes, outputBytes, instantiateUs, totalUs } = fields(report);
  return {
    kind,
    answer: value,
    report: {
      memoryBytes: number(memoryBytes),
      abandonedBytes: number(abandonedBytes),
      inputBytes: number(inputBytes),
      outputBytes: number(outputBytes),
      instantiateUs: number(instantiateUs),
      totalUs: number(totalUs),
    },
  };
}

function number(it: unknown): number {
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
