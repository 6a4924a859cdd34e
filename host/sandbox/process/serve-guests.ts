// Serves calls in a sandbox process: reads them from one pipe, runs guests, and writes their outcomes to another pipe. The import of a synchronous
// guest is a write and a blocking read. A guest whose imports may wait is suspended during an import, and the next frame may belong to another
// call. In both cases one guest runs at a time, and the process reads no frame meanwhile.

import { writeSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { collectGarbage } from "../../system/v8/collect-garbage.ts";
import { tierUpSooner } from "../../system/v8/tier-up.ts";
import { examineComponent } from "../admission/examine.ts";
import { warmUpExamination } from "../admission/warm-up.ts";
import { type Compilable, CompiledComponents } from "../compile.ts";
import { InstanceMemory } from "../instance-memory.ts";
import { GuestFault } from "../abi/guest-fault.ts";
import {
  type Callable,
  callGuest,
  type CallOutcome,
  callSuspendable,
  prepareInstances,
  type SuspendableCall,
} from "../linker/call.ts";
import type { CapabilityCall } from "../linker/link.ts";
import { mayWait } from "../linker/may-wait.ts";
import { FrameReader } from "./frame-reader.ts";
import { encodeFrame, frameTypes } from "./frames.ts";
import type { AdmitMessage, AdmittedMessage, AnswerMessage, CallMessage, LoadMessage } from "./messages.ts";

// The global `process`, not `node:process`: importing that module opens stdin as a stream, which makes reads fail with EAGAIN.
const input = 0;
const output = 1;

/**
 * Sets the maximum of memory pages and of table entries that V8 allows any later guest. The flags are set here and not on the command line: with other
 * flags at its start V8 discards Node's start-up snapshot, which doubles the time to start.
 */
export function setV8Limits(pages = "256", entries = "10000"): void {
  setFlagsFromString(`--wasm-max-mem-pages=${Number(pages)}`);
  setFlagsFromString(`--wasm-max-table-size=${Number(entries)}`);
  // For inlining, V8 records the callees of each function, with memory for it in every instance. An instance serves only one call.
  setFlagsFromString("--no-wasm-inlining");
  setFlagsFromString("--no-wasm-inlining-call-indirect");
  tierUpSooner();
  // The code cache is written at the end of a process of the build, and valid only for the flags of a start.
  process.on("exit", () => defaultFlags.forEach((flag) => setFlagsFromString(flag)));
}

const defaultFlags = [
  "--wasm-max-mem-pages=4294967295",
  "--wasm-max-table-size=10000000",
  "--wasm-inlining",
  "--wasm-inlining-call-indirect",
];

/** How a sandbox process ends and pauses. */
export interface ProcessLife {
  readonly exit: (status: number) => never;
  /** Called between calls, but not while a guest is suspended again. */
  readonly pause: () => Promise<void>;
}

let exit: ProcessLife["exit"] = (status) => process.exit(status);
// If the engine has closed the pipe, the process exits.
const frames = new FrameReader(input, () => exit(0));

function writeFrame(type: number, number: number, json: unknown, raw: readonly Uint8Array[] = []): void {
  const frame = encodeFrame(type, number, json, raw);
  for (let at = 0; at < frame.length;) at += writeSync(output, frame, at);
}

const compiled = new CompiledComponents();
const refused = new Map<string, string>();
/** Components without prepared instances for their next call. */
const unprepared = new Set<Callable>();
const memory = new InstanceMemory();

function load({ key, plan, sizes }: LoadMessage, raw: Buffer): void {
  let at = 0;
  const modules = sizes.map((size) => {
    at += size;
    return raw.subarray(at - size, at);
  });
  compile({ key, plan, modules });
}

/** Examines a component. The process belongs to the component from now on, so a defect of the examination concerns no other component. */
function admit({ key, limits }: AdmitMessage, bytes: Uint8Array): void {
  const examined = examineComponent(bytes, limits);
  if (!examined.ok) {
    const { kind, msg } = examined.fault;
    writeFrame(frameTypes.ADMITTED, 0, { refused: { fault: kind, message: msg } } satisfies AdmittedMessage);
    return;
  }
  const { modules, ...report } = examined.value;
  const message: AdmittedMessage = { ...report, sizes: modules.map(({ length }) => length) };
  writeFrame(frameTypes.ADMITTED, 0, message, modules);
  compile({ key, plan: report.plan, modules });
}

function compile({ key, plan, modules }: Compilable): void {
  try {
    unprepared.add(compiled.add({ key, plan, modules }));
  } catch (error) {
    refused.set(key, error instanceof Error ? error.message : String(error));
  }
}

function writeLog(number: number, [level, message]: readonly unknown[]): void {
  writeFrame(frameTypes.LOG, number, { level, message });
}

function runSynchronously(number: number, component: Callable, message: CallMessage): void {
  const capability: CapabilityCall = (name, func, args) => {
    if (name === "log") return writeLog(number, args);
    writeFrame(frameTypes.IMPORT, number, { capability: name, func, args });
    const { json } = frames.next();
    return (json as AnswerMessage).value;
  };
  end(number, callGuest(component, message, capability));
}

interface Suspended {
  readonly call: SuspendableCall;
  readonly answer: (value: unknown) => void;
}

const suspended = new Map<number, Suspended>();
let guestStopped: () => void = () => undefined;

/** Runs `run`, then waits until its guest is suspended or has ended. */
function runUntilSuspended(run: () => void): Promise<void> {
  return new Promise((resolve) => {
    guestStopped = resolve;
    run();
  });
}

function runSuspendable(number: number, component: Callable, message: CallMessage): void {
  let answer: ((value: unknown) => void) | undefined;
  const capability: CapabilityCall = (name, func, args) => {
    if (name === "log") return writeLog(number, args);
    writeFrame(frameTypes.IMPORT, number, { capability: name, func, args });
    guestStopped();
    return new Promise((resolve) => (answer = resolve));
  };
  const running = callSuspendable(component, message, capability);
  suspended.set(number, { call: running, answer: (value) => answer?.(value) });
  void running.outcome.then((outcome) => {
    suspended.delete(number);
    end(number, outcome);
    guestStopped();
  });
}

function end(number: number, outcome: CallOutcome): void {
  writeFrame(frameTypes.OUTCOME, number, outcome);
  memory.add((outcome.kind === "answered" ? outcome.report.abandonedBytes : outcome.abandonedBytes) ?? 0);
  memory.collectIfMuch();
}

async function call(number: number, message: CallMessage): Promise<void> {
  const { key } = message;
  const reason = refused.get(key);
  const component = compiled.get(key);
  if (component === undefined) {
    if (reason === undefined) writeFrame(frameTypes.UNKNOWN, number, {});
    else end(number, doesNotCompile(reason));
    return;
  }
  unprepared.add(component);
  if (mayWait(component.plan.capabilities)) await runUntilSuspended(() => runSuspendable(number, component, message));
  else runSynchronously(number, component, message);
}

function doesNotCompile(reason: string): CallOutcome {
  return { kind: "broken", fault: "COMPONENT_REFUSED", message: `does not compile: ${reason}` };
}

/** Makes instances for the next calls, while the engine handles the answer or an import. */
function prepareNextCalls(): void {
  for (const component of unprepared) prepareInstances(component, mayWait(component.plan.capabilities));
  unprepared.clear();
}

async function resume(number: number, act: (call: Suspended) => void): Promise<void> {
  const found = suspended.get(number);
  if (found !== undefined) await runUntilSuspended(() => act(found));
}

/** Reports that the process is ready, and serves calls until the engine closes the pipe. */
export async function serveGuests(life: ProcessLife): Promise<never> {
  ({ exit } = life);
  writeFrame(frameTypes.READY, 0, {});
  for (;;) {
    // The engine's frames are trusted: it has more rights than this process.
    const { type, call: number, json, raw } = frames.next();
    if (type === frameTypes.LOAD) load(json as LoadMessage, raw);
    else if (type === frameTypes.ADMIT) admit(json as AdmitMessage, raw);
    // An idle process without a component prepares for its first one.
    else if (type === frameTypes.WARM) warmUpExamination();
    // The process waits for frames without V8's idle tasks, so V8 never gives memory back by itself.
    else if (type === frameTypes.REST) collectGarbage("last-resort");
    else if (type === frameTypes.CALL) await call(number, json as CallMessage);
    else if (type === frameTypes.ANSWER) await resume(number, ({ answer }) => answer((json as AnswerMessage).value));
    else if (type === frameTypes.ABANDON) await resume(number, ({ call: running }) => running.abandon(abandoned));
    else exit(1);
    prepareNextCalls();
    if (type !== frameTypes.ANSWER || !suspended.has(number)) await life.pause();
  }
}

const abandoned = new GuestFault("LIMIT_TIME", "was abandoned");
