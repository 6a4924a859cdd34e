// The sandbox process: reads calls from its one pipe, runs guests, writes what they answer to the other. An import of a
// guest is a write and a read in place, so a guest waits for its host like for any function; one whose imports may wait is suspended
// instead, and the next frame may be another call's. Either way one guest runs at a time, and nothing is read while it does.
//
// Arguments: pages of memory and table entries that V8 gives any guest at most.

import { writeSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { tierUpSooner } from "../../engine/tier-up.ts";
import { CompiledComponents } from "../compile.ts";
import { InstanceMemory } from "../instance-memory.ts";
import { GuestFault } from "../abi/guest-fault.ts";
import { type Callable, callGuest, type CallOutcome, callSuspendable, makeReady, type SuspendableCall } from "../linker/call.ts";
import type { CapabilityCall } from "../linker/link.ts";
import { mayWait } from "../linker/may-wait.ts";
import { FrameReader } from "./frame-reader.ts";
import { encodeFrame, frameTypes } from "./frames.ts";
import type { AnswerMessage, CallMessage, LoadMessage } from "./messages.ts";

// The global `process`, not `node:process`: importing that module opens stdin as a stream, which makes reads fail with EAGAIN.
const { argv } = process;
const nobody = 65_534;
const input = 0;
const output = 1;

// Set here and not on the command line: V8 discards Node's start-up snapshot when it is started with other flags, which
// doubles the time to start. It takes effect on memories and tables that are made from here on.
function boundEngine(): void {
  const [, , pages = "256", entries = "10000"] = argv;
  setFlagsFromString(`--wasm-max-mem-pages=${Number(pages)}`);
  setFlagsFromString(`--wasm-max-table-size=${Number(entries)}`);
  // Inlining wants to know what each function calls: V8 would make room for that anew in every instance, and have it for one call.
  setFlagsFromString("--no-wasm-inlining");
  setFlagsFromString("--no-wasm-inlining-call-indirect");
  tierUpSooner();
}

// In a user namespace without that id the process keeps its own, which is nobody's outside.
function dropPrivileges(): void {
  if (process.getuid?.() !== 0) return;
  try {
    process.setgroups?.([nobody]);
    process.setgid?.(nobody);
    process.setuid?.(nobody);
  } catch {
    // Reported in READY.
  }
}

// The brain is gone.
const frames = new FrameReader(input, () => process.exit(0));

function writeFrame(type: number, number: number, json: unknown): void {
  const frame = encodeFrame(type, number, json);
  for (let at = 0; at < frame.length;) at += writeSync(output, frame, at);
}

const compiled = new CompiledComponents();
const refused = new Map<string, string>();
/** Components whose next call has no instances yet. */
const used = new Set<Callable>();
const memory = new InstanceMemory();

function load({ key, plan, sizes }: LoadMessage, raw: Buffer): void {
  let at = 0;
  const modules = sizes.map((size) => {
    at += size;
    return raw.subarray(at - size, at);
  });
  try {
    used.add(compiled.add({ key, plan, modules }));
  } catch (error) {
    refused.set(key, error instanceof Error ? error.message : String(error));
  }
}

function writeLog(number: number, [level, message]: readonly unknown[]): void {
  writeFrame(frameTypes.LOG, number, { level, message });
}

function runNow(number: number, component: Callable, message: CallMessage): void {
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
let giveWay: () => void = () => undefined;

/** Lets a guest run until it waits or ends. */
function stretch(act: () => void): Promise<void> {
  return new Promise((resolve) => {
    giveWay = resolve;
    act();
  });
}

function runSuspendable(number: number, component: Callable, message: CallMessage): void {
  let answer: ((value: unknown) => void) | undefined;
  const capability: CapabilityCall = (name, func, args) => {
    if (name === "log") return writeLog(number, args);
    writeFrame(frameTypes.IMPORT, number, { capability: name, func, args });
    giveWay();
    return new Promise((resolve) => (answer = resolve));
  };
  const running = callSuspendable(component, message, capability);
  suspended.set(number, { call: running, answer: (value) => answer?.(value) });
  void running.outcome.then((outcome) => {
    suspended.delete(number);
    end(number, outcome);
    giveWay();
  });
}

function end(number: number, outcome: CallOutcome): void {
  writeFrame(frameTypes.OUTCOME, number, outcome);
  memory.ended((outcome.kind === "answered" ? outcome.report.abandonedBytes : outcome.abandonedBytes) ?? 0);
  memory.tidy();
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
  used.add(component);
  if (mayWait(component.plan.capabilities)) await stretch(() => runSuspendable(number, component, message));
  else runNow(number, component, message);
}

function doesNotCompile(reason: string): CallOutcome {
  return { kind: "broken", fault: "COMPONENT_REFUSED", message: `does not compile: ${reason}` };
}

/** While the brain has the answer, or works for the guest that waits. */
function prepareNextCalls(): void {
  for (const component of used) makeReady(component, mayWait(component.plan.capabilities));
  used.clear();
}

async function goOn(number: number, act: (call: Suspended) => void): Promise<void> {
  const found = suspended.get(number);
  if (found !== undefined) await stretch(() => act(found));
}

async function serve(): Promise<never> {
  for (;;) {
    // What the brain sends is trusted: it is the stronger side.
    const { type, call: number, json, raw } = frames.next();
    if (type === frameTypes.LOAD) load(json as LoadMessage, raw);
    else if (type === frameTypes.CALL) await call(number, json as CallMessage);
    else if (type === frameTypes.ANSWER) await goOn(number, ({ answer }) => answer((json as AnswerMessage).value));
    else if (type === frameTypes.ABANDON) await goOn(number, ({ call: it }) => it.abandon(abandoned));
    else process.exit(1);
    prepareNextCalls();
    // V8 has work of its own to do between calls; a guest that only waits again doesn't wait for that.
    if (type !== frameTypes.ANSWER || !suspended.has(number)) await new Promise((resolve) => setImmediate(resolve));
  }
}

const abandoned = new GuestFault("LIMIT_TIME", "was abandoned");

boundEngine();
dropPrivileges();
writeFrame(frameTypes.READY, 0, { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 });
void serve();
