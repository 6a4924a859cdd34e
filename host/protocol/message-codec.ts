// The fields of each message in their order (PROTOCOL.md): as the engine reads them, and as both sides write them.

import { failed, ok, type Result } from "../../src/fault/result.ts";
import { FieldReader, environmentMistake, FieldWriter } from "./fields.ts";
import { type Frame, protocolFault } from "./frames.ts";
import { FOUND, NETFILTER, NO_ID, OUTCOMES, STDERR_TRUNCATED, STDOUT_TRUNCATED, TYPE } from "./message-numbers.ts";
import { askKinds, type EngineMessage, type Outcome, type ShimMessage, type Tap, zoneOperations } from "./messages.ts";
import { askKeyBytes, HARDWARE_ADDRESS_BYTES, packetBytes, settingsRow } from "./network-fields.ts";
import { concat } from "../system/netlink/bytes.ts";

/** Reads a message of the shim; undefined for an unknown type or an unknown value. */
function readShimMessage(type: number, fields: FieldReader): ShimMessage | undefined {
  switch (type) {
    case TYPE.request:
      return {
        kind: "request",
        name: fields.text(),
        environment: fields.environment(),
        stdin: fields.bytes(),
        under: fields.u32(),
      };
    case TYPE.agent:
      return { kind: "agent", environment: fields.environment() };
    case TYPE.executed: {
      const outcome = outcomeOf(fields.u32(), fields.u32());
      const microseconds = fields.u32();
      const flags = fields.u32();
      if (outcome === undefined) return undefined;
      return {
        kind: "executed",
        outcome,
        microseconds,
        stdoutTruncated: (flags & STDOUT_TRUNCATED) !== 0,
        stderrTruncated: (flags & STDERR_TRUNCATED) !== 0,
        stdout: fields.bytes(),
        stderr: fields.bytes(),
        path: fields.text(),
      };
    }
    case TYPE.found: {
      const what = FOUND[fields.u32()];
      return what === undefined ? undefined : { kind: "found", what, path: fields.text(), identity: fields.text() };
    }
    case TYPE.content:
      return { kind: "content", errno: fields.u32(), content: fields.bytes() };
    case TYPE.done:
      return { kind: "done", errno: fields.u32(), sent: fields.u32() === 1, reply: fields.bytes() };
    default:
      return undefined;
  }
}

function outcomeOf(number: number, detail: number): Outcome | undefined {
  const kind = OUTCOMES[number];
  switch (kind) {
    case "exited":
      return { kind, status: detail };
    case "signalled":
      return { kind, signal: detail };
    case "not-startable":
      return { kind, errno: detail };
    case undefined:
      return undefined;
    default:
      return { kind };
  }
}

/** Decodes a frame from the shim. Fault SHIM_PROTOCOL: a type that the shim does not send, or malformed fields. */
export function decodeShimMessage(frame: Frame): Result<ShimMessage> {
  const fields = new FieldReader(frame.payload);
  const message = readShimMessage(frame.type, fields);
  return checkedMessage(frame, fields, message);
}

/** The message of a frame. Fault SHIM_PROTOCOL: it is undefined, or its fields do not fill the payload. */
export function checkedMessage<T>(frame: Frame, fields: FieldReader, message: T | undefined): Result<T> {
  if (message === undefined)
    return failed(protocolFault(`a frame of type ${frame.type}, an unknown type or one with an unknown value`));
  if (!fields.isComplete)
    return failed(protocolFault(`a frame of type ${frame.type} whose fields do not fill its ${frame.payload.length} bytes`));
  return ok(message);
}

/** The messages of both sides by their kind. */
type MessageOf = { [Each in ShimMessage | EngineMessage as Each["kind"]]: Each };

const writers: { readonly [Kind in keyof MessageOf]: (fields: FieldWriter, message: MessageOf[Kind]) => unknown } = {
  request: (fields, message) =>
    fields.bytes(message.name).environment(message.environment).bytes(message.stdin).u32(message.under),
  agent: (fields, message) => fields.environment(message.environment),
  executed: (fields, message) =>
    fields
      .u32(OUTCOMES.indexOf(message.outcome.kind))
      .u32(outcomeDetail(message.outcome))
      .u32(message.microseconds)
      .u32((message.stdoutTruncated ? STDOUT_TRUNCATED : 0) | (message.stderrTruncated ? STDERR_TRUNCATED : 0))
      .bytes(message.stdout)
      .bytes(message.stderr)
      .bytes(message.path),
  found: (fields, message) => fields.u32(FOUND.indexOf(message.what)).bytes(message.path).bytes(message.identity),
  content: (fields, message) => fields.u32(message.errno).bytes(message.content),
  done: (fields, message) =>
    fields
      .u32(message.errno)
      .u32(message.sent ? 1 : 0)
      .bytes(message.reply),
  netlink: (fields, message) =>
    fields
      .bytes(message.path)
      .bytes(message.request)
      .u32(message.deadlineMs)
      .bytes(message.second ?? "")
      .u32(message.allowsOwn === true ? 0 : 1)
      .u32(message.protocol === "netfilter" ? NETFILTER : 0),
  sysctl: (fields, message) => fields.bytes(message.path).bytes(settingsRow(message.settings)),
  packet: (fields, message) => fields.bytes(message.path).u32(message.index).bytes(packetBytes(message.packets)),
  tap: writeTap,
  "labelled-tap": (fields, message) => writeTap(fields, message).bytes(message.selinuxContext),
  ask: (fields, message) =>
    fields
      .bytes(message.path)
      .u32(message.index)
      .u32(askKinds.indexOf(message.answers) + 1)
      .bytes(concat(message.keys))
      .bytes(packetBytes(message.packets))
      .u32(message.deadlineMs)
      .u32(message.maxAnswers),
  changes: (fields, message) => fields.u32(message.deadlineMs),
  zone: (fields, message) =>
    fields
      .u32(zoneOperations.indexOf(message.operation) + 1)
      .bytes(message.zone)
      .bytes(message.source),
  welcome: () => undefined,
  reply: (fields, message) => fields.u32(message.status).bytes(message.stdout).bytes(message.stderr),
  exec: (fields, message) =>
    fields
      .bytes(message.type)
      .environment(message.environment)
      .bytes(message.stdin)
      .u32(message.deadlineMs)
      .u32(message.stdoutCap)
      .u32(message.stderrCap)
      .bytes(message.nestedCallDirectory ?? ""),
  find: (fields, message) => fields.bytes(message.type).u32(message.componentFirst ? 1 : 0),
  read: (fields, message) => fields.bytes(message.path).u32(message.cap),
};

function writeTap(fields: FieldWriter, { path, name, multiQueue, owner, group }: Omit<Tap, "kind">): FieldWriter {
  return fields
    .bytes(path)
    .bytes(name)
    .u32(multiQueue ? 1 : 0)
    .u32(owner ?? NO_ID)
    .u32(group ?? NO_ID);
}

/** Writes a message's fields. */
function writeMessage<Kind extends keyof MessageOf>(fields: FieldWriter, kind: Kind, message: MessageOf[Kind]): void {
  writers[kind](fields, message);
}

function outcomeDetail(outcome: Outcome): number {
  switch (outcome.kind) {
    case "exited":
      return outcome.status;
    case "signalled":
      return outcome.signal;
    case "not-startable":
      return outcome.errno;
    default:
      return 0;
  }
}

/** Encodes a message as a frame. Fault SHIM_PROTOCOL: an environment, a type or a path with a NUL, or a variable's name with a `=`. */
export function encodeMessage(channel: number, message: ShimMessage | EngineMessage): Result<Frame> {
  const fields = new FieldWriter();
  writeMessage(fields, message.kind, message);
  const mistake = messageMistake(message);
  return mistake === undefined
    ? ok({ type: TYPE[message.kind], channel, payload: fields.payload() })
    : failed(protocolFault(`${message.kind}: ${mistake}`));
}

/** Why the shim would refuse the message as malformed and end the call; undefined if all fields are valid. */
function messageMistake(message: ShimMessage | EngineMessage): string | undefined {
  const texts = "type" in message ? [message.type] : "path" in message ? [message.path] : [];
  if (message.kind === "exec" && message.nestedCallDirectory !== undefined) texts.push(message.nestedCallDirectory);
  if (message.kind === "netlink" && message.second !== undefined) texts.push(message.second);
  if (message.kind === "tap" || message.kind === "labelled-tap") texts.push(message.name);
  if (message.kind === "labelled-tap") texts.push(message.selinuxContext);
  if (message.kind === "zone") texts.push(message.zone, message.source);
  if (message.kind === "sysctl") texts.push(...message.settings.flatMap(({ key, value }) => [key, value]));
  if ("packets" in message && message.packets.some(({ destination }) => destination.length !== HARDWARE_ADDRESS_BYTES))
    return `a destination that is not ${HARDWARE_ADDRESS_BYTES} bytes long`;
  if (message.kind === "ask" && message.keys.some(({ length }) => length !== askKeyBytes[message.answers]))
    return `a key of ${message.answers} that is not ${askKeyBytes[message.answers]} bytes long`;
  if (texts.some((text) => text.includes("\0")))
    return `${JSON.stringify(texts.find((text) => text.includes("\0")))} contains a NUL`;
  return "environment" in message ? environmentMistake(message.environment) : undefined;
}
