// The sandbox process: reads calls from its one pipe, runs guests, writes what they answer to the other. An import of a
// guest is a write and a read in place, so a guest waits for its host like for any function.
//
// Arguments: pages of memory and table entries that V8 gives any guest at most.

import { readSync, writeSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { CompiledComponents } from "../compile.ts";
import { InstanceMemory } from "../instance-memory.ts";
import { callGuest, type CallOutcome } from "../linker/call.ts";
import type { CapabilityCall } from "../linker/link.ts";
import { decodeBody, encodeFrame, frameTypes, headerBytes, type Frame } from "./frames.ts";
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

function readExactly(size: number): Buffer {
  const buffer = Buffer.allocUnsafe(size);
  for (let at = 0; at < size;) {
    const count = readSync(input, buffer, at, size - at, null);
    // The brain is gone.
    if (count === 0) process.exit(0);
    at += count;
  }
  return buffer;
}

function readFrame(): Frame {
  return decodeBody(readExactly(readExactly(headerBytes).readUInt32LE(0)));
}

function writeFrame(type: number, json: unknown): void {
  const frame = encodeFrame(type, json);
  for (let at = 0; at < frame.length;) at += writeSync(output, frame, at);
}

const compiled = new CompiledComponents();
const refused = new Map<string, string>();
const memory = new InstanceMemory();

function load({ key, plan, sizes }: LoadMessage, raw: Buffer): void {
  let at = 0;
  const modules = sizes.map((size) => {
    at += size;
    return raw.subarray(at - size, at);
  });
  try {
    compiled.add({ key, plan, modules });
  } catch (error) {
    refused.set(key, error instanceof Error ? error.message : String(error));
  }
}

const capability: CapabilityCall = (name, func, args) => {
  if (name === "log") {
    writeFrame(frameTypes.LOG, { level: args[0], message: args[1] });
    return undefined;
  }
  writeFrame(frameTypes.IMPORT, { capability: name, func, args });
  const { json } = readFrame();
  return (json as AnswerMessage).value;
};

function call({ key, verb, request, limits, deadlineMs }: CallMessage): void {
  const reason = refused.get(key);
  const component = compiled.get(key);
  if (reason === undefined && component === undefined) {
    writeFrame(frameTypes.UNKNOWN, {});
    return;
  }
  let outcome = doesNotCompile(reason ?? "");
  if (component !== undefined) outcome = callGuest(component, { verb, request, limits, deadlineMs }, capability);
  writeFrame(frameTypes.OUTCOME, outcome);
  // After anything but an answer the brain replaces this process.
  if (outcome.kind === "answered") memory.ended(outcome.report.abandonedBytes);
  memory.tidy();
}

boundEngine();
dropPrivileges();
writeFrame(frameTypes.READY, { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 });
function doesNotCompile(reason: string): CallOutcome {
  return { kind: "broken", fault: "COMPONENT_REFUSED", message: `does not compile: ${reason}` };
}

async function serve(): Promise<never> {
  for (;;) {
    // What the brain sends is trusted: it is the stronger side.
    const { type, json, raw } = readFrame();
    if (type === frameTypes.LOAD) load(json as LoadMessage, raw);
    else if (type === frameTypes.CALL) call(json as CallMessage);
    else process.exit(1);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

void serve();
