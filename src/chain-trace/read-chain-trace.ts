// Reads the file of a chain trace. The file may come from anywhere: every field is checked, and the number of steps and calls is bounded.

import { ObjectReader } from "../configuration/object-reader.ts";
import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { parseDocument } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import { type ChainTrace, chainTraceVersion, type TracedCall, type TracedReply } from "./chain-trace.ts";
import { readSteps } from "./read-step.ts";
import { millisecondsField, textField, verbField } from "./trace-fields.ts";

/** Maximum size of a file, in UTF-16 units. */
export const maxTraceLength = 32 * 1024 * 1024;

/** Maximum levels: a result of 100 levels within nested steps. */
const maxLevels = 300;
/** Maximum steps of a file, nested ones included, and maximum calls of imports. */
const maxSteps = 4000;
const maxCalls = 20_000;
/** Number of problems in a message. */
const maxNamed = 5;

/**
 * Reads a trace from a file's text; `name` names the file in messages. `prevResult`, `result` and `changes` are computed from each
 * step's input and output, so they never contradict these. Fields that this release does not know are ignored. Fault: TRACE_INVALID.
 */
export function readChainTrace(text: string, name: string): Result<ChainTrace> {
  const limits = { maxLength: maxTraceLength, maxDepth: maxLevels };
  const document = parseDocument(text, { what: name, kind: "TRACE_INVALID", ...limits });
  if (!document.ok) return document;
  const reader = new ObjectReader(document.value.parsed);
  const foreign = foreignVersion(reader);
  if (foreign !== undefined) return failed(fault("TRACE_INVALID", `${name}: ${foreign}`));
  const trace: ChainTrace = {
    plexus: textField(reader, "plexus"),
    time: textField(reader, "time"),
    ms: millisecondsField(reader, "ms"),
    call: readCall(reader),
    reply: readReply(reader),
    steps: readSteps(reader, { steps: maxSteps, calls: maxCalls }),
    secrets: reader.count("secrets", Number.MAX_SAFE_INTEGER, 0) ?? 0,
    omitted: reader.strings("omitted") ?? [],
  };
  const { problems } = reader;
  if (problems.length === 0) return ok(trace);
  const more = problems.length > maxNamed ? `; and ${problems.length - maxNamed} more` : "";
  return failed(fault("TRACE_INVALID", `${name}: ${problems.slice(0, maxNamed).join("; ")}${more}`));
}

/** Longer texts are written without indentation, which can make a deep value 50 times as long. In UTF-16 units. */
const maxIndented = 256 * 1024;

/** The file's text for a trace. */
export function chainTraceText(trace: ChainTrace): string {
  const document = { ...chainTraceVersion, ...trace };
  const text = JSON.stringify(document);
  return `${text.length > maxIndented ? text : JSON.stringify(document, undefined, 1)}\n`;
}

function foreignVersion(reader: ObjectReader): string | undefined {
  for (const [key, wanted] of Object.entries(chainTraceVersion)) {
    const value = reader.value(key);
    if (value !== wanted) {
      const found = typeof value === "string" ? quote(value, 40) : "missing or no text";
      return `${key} must be "${wanted}", but is ${found}`;
    }
  }
  return undefined;
}

function readCall(reader: ObjectReader): TracedCall {
  reader.require("call");
  const call = reader.object("call") ?? reader.at("call", { verb: "VERSION" });
  return {
    verb: verbField(call),
    containerId: call.text("containerId") ?? "",
    ifname: call.text("ifname") ?? "",
    netns: call.text("netns") ?? "",
    pod: call.text("pod"),
    args: call.text("args") ?? "",
    stdin: textField(call, "stdin"),
  };
}

function readReply(reader: ObjectReader): TracedReply {
  reader.require("reply");
  const reply = reader.object("reply");
  if (reply === undefined) return { status: 0, stdout: "" };
  return { status: reply.count("status", 255, 0) ?? 0, stdout: textField(reply, "stdout") };
}
