// Messages to frames and back: type numbers and the order of fields (PROTOCOL.md).

import { failed, ok, type Result } from "../../src/fault/result.ts";
import { concat } from "../system/netlink/bytes.ts";
import { environmentMistake, FieldReader, FieldWriter } from "./fields.ts";
import { protocolFault, type Frame } from "./frames.ts";
import { askKinds, type EngineMessage, type ShimMessage, type Outcome, type Tap } from "./messages.ts";
import {
  askKeyBytes,
  askKeysIn,
  HARDWARE_ADDRESS_BYTES,
  packetBytes,
  packetsIn,
  settingsIn,
  settingsRow,
} from "./network-fields.ts";

/** Type numbers. */
const TYPE = {
  request: 1,
  executed: 2,
  found: 3,
  content: 4,
  done: 5,
  agent: 6,
  reply: 16,
  exec: 17,
  find: 18,
  read: 19,
  netlink: 20,
  welcome: 21,
  sysctl: 22,
  packet: 23,
  tap: 24,
  ask: 25,
  changes: 26,
} as const;

const OUTCOMES = ["exited", "signalled", "deadline-passed", "not-found", "not-startable", "text-busy"] as const;
const FOUND = ["nothing", "native", "component"] as const;
/** NETLINK_NETFILTER; NETLINK_ROUTE is 0. */
const NETFILTER = 12;
/** A tap without an owner or a group. */
const NO_ID = 0xffff_ffff;
const STDOUT_TRUNCATED = 1;
const STDERR_TRUNCATED = 2;

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

/** Writes the fields of a message of the shim or the agent, in the order of PROTOCOL.md. */
function writeShimMessage(fields: FieldWriter, message: ShimMessage): void {
  switch (message.kind) {
    case "request":
      fields.bytes(message.name).environment(message.environment).bytes(message.stdin).u32(message.under);
      break;
    case "agent":
      fields.environment(message.environment);
      break;
    case "executed":
      fields
        .u32(OUTCOMES.indexOf(message.outcome.kind))
        .u32(outcomeDetail(message.outcome))
        .u32(message.microseconds)
        .u32((message.stdoutTruncated ? STDOUT_TRUNCATED : 0) | (message.stderrTruncated ? STDERR_TRUNCATED : 0))
        .bytes(message.stdout)
        .bytes(message.stderr)
        .bytes(message.path);
      break;
    case "found":
      fields.u32(FOUND.indexOf(message.what)).bytes(message.path).bytes(message.identity);
      break;
    case "content":
      fields.u32(message.errno).bytes(message.content);
      break;
    case "done":
      fields
        .u32(message.errno)
        .u32(message.sent ? 1 : 0)
        .bytes(message.reply);
      break;
  }
}

/** Writes the fields of a message of the engine, in the order of PROTOCOL.md. */
function writeEngineMessage(fields: FieldWriter, message: EngineMessage): void {
  switch (message.kind) {
    case "netlink":
      fields
        .bytes(message.path)
        .bytes(message.request)
        .u32(message.deadlineMs)
        .bytes(message.second ?? "")
        .u32(message.foreign === true ? 1 : 0)
        .u32(message.protocol === "netfilter" ? NETFILTER : 0);
      break;
    case "sysctl":
      fields.bytes(message.path).bytes(settingsRow(message.settings));
      break;
    case "packet":
      fields.bytes(message.path).u32(message.index).bytes(packetBytes(message.packets));
      break;
    case "tap":
      fields
        .bytes(message.path)
        .bytes(message.name)
        .u32(message.multiQueue ? 1 : 0)
        .u32(message.owner ?? NO_ID)
        .u32(message.group ?? NO_ID);
      break;
    case "ask":
      fields
        .bytes(message.path)
        .u32(message.index)
        .u32(askKinds.indexOf(message.answers) + 1)
        .bytes(concat(message.keys))
        .bytes(packetBytes(message.packets))
        .u32(message.deadlineMs)
        .u32(message.maxAnswers);
      break;
    case "changes":
      fields.u32(message.deadlineMs);
      break;
    case "welcome":
      break;
    case "reply":
      fields.u32(message.status).bytes(message.stdout).bytes(message.stderr);
      break;
    case "exec":
      fields
        .bytes(message.type)
        .environment(message.environment)
        .bytes(message.stdin)
        .u32(message.deadlineMs)
        .u32(message.stdoutCap)
        .u32(message.stderrCap)
        .bytes(message.nestedCallDirectory ?? "");
      break;
    case "find":
      fields.bytes(message.type).u32(message.componentFirst ? 1 : 0);
      break;
    case "read":
      fields.bytes(message.path).u32(message.cap);
      break;
    default:
      message satisfies never;
  }
}

/**
 * Encodes a message as a frame. Fault SHIM_PROTOCOL: an environment, a type or a path with a NUL, or a variable's name with a `=`.
 */
export function encodeMessage(channel: number, message: ShimMessage | EngineMessage): Result<Frame> {
  const fields = new FieldWriter();
  switch (message.kind) {
    case "request":
    case "agent":
    case "executed":
    case "found":
    case "content":
    case "done":
      writeShimMessage(fields, message);
      break;
    default:
      writeEngineMessage(fields, message);
  }
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
  if (message.kind === "tap") texts.push(message.name);
  if (message.kind === "sysctl") texts.push(...message.settings.flatMap(({ key, value }) => [key, value]));
  if ("packets" in message && message.packets.some(({ destination }) => destination.length !== HARDWARE_ADDRESS_BYTES))
    return `a destination that is not ${HARDWARE_ADDRESS_BYTES} bytes long`;
  if (message.kind === "ask" && message.keys.some(({ length }) => length !== askKeyBytes[message.answers]))
    return `a key of ${message.answers} that is not ${askKeyBytes[message.answers]} bytes long`;
  if (texts.some((text) => text.includes("\0")))
    return `${JSON.stringify(texts.find((text) => text.includes("\0")))} contains a NUL`;
  return "environment" in message ? environmentMistake(message.environment) : undefined;
}

/** Decodes a frame from the shim. Fault SHIM_PROTOCOL: a type that the shim does not send, or malformed fields. */
export function decodeShimMessage(frame: Frame): Result<ShimMessage> {
  const fields = new FieldReader(frame.payload);
  const message = readShimMessage(frame.type, fields);
  return checked(frame, fields, message);
}

/** Decodes a frame from an engine, for tests that play the shim. Fault SHIM_PROTOCOL. */
export function decodeEngineMessage(frame: Frame): Result<EngineMessage> {
  const fields = new FieldReader(frame.payload);
  const message = readEngineMessage(frame.type, fields);
  return checked(frame, fields, message);
}

function checked<T>(frame: Frame, fields: FieldReader, message: T | undefined): Result<T> {
  if (message === undefined)
    return failed(protocolFault(`a frame of type ${frame.type}, an unknown type or one with an unknown value`));
  if (!fields.isComplete)
    return failed(protocolFault(`a frame of type ${frame.type} whose fields do not fill its ${frame.payload.length} bytes`));
  return ok(message);
}

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

function readEngineMessage(type: number, fields: FieldReader): EngineMessage | undefined {
  switch (type) {
    case TYPE.welcome:
      return { kind: "welcome" };
    case TYPE.reply:
      return { kind: "reply", status: fields.u32(), stdout: fields.bytes(), stderr: fields.bytes() };
    case TYPE.exec: {
      const exec = {
        kind: "exec",
        type: fields.text(),
        environment: fields.environment(),
        stdin: fields.bytes(),
        deadlineMs: fields.u32(),
        stdoutCap: fields.u32(),
        stderrCap: fields.u32(),
      } as const;
      const nestedCallDirectory = fields.text();
      return nestedCallDirectory === "" ? exec : { ...exec, nestedCallDirectory };
    }
    case TYPE.find:
      return { kind: "find", type: fields.text(), componentFirst: fields.u32() === 1 };
    case TYPE.read:
      return { kind: "read", path: fields.text(), cap: fields.u32() };
    case TYPE.netlink: {
      const netlink = { kind: "netlink", path: fields.text(), request: fields.bytes(), deadlineMs: fields.u32() } as const;
      const [second, foreign, protocol] = [fields.text(), fields.u32() === 1, fields.u32()];
      return {
        ...netlink,
        ...(second === "" ? {} : { second }),
        ...(foreign ? { foreign } : {}),
        ...(protocol === NETFILTER ? { protocol: "netfilter" } : {}),
      };
    }
    case TYPE.sysctl: {
      const path = fields.text();
      const settings = settingsIn(fields.text());
      return settings === undefined ? undefined : { kind: "sysctl", path, settings };
    }
    case TYPE.packet: {
      const [path, index] = [fields.text(), fields.u32()];
      const packets = packetsIn(fields.bytes());
      return packets === undefined ? undefined : { kind: "packet", path, index, packets };
    }
    case TYPE.tap: {
      const [path, name, multiQueue] = [fields.text(), fields.text(), fields.u32() === 1];
      const [owner, group] = [fields.u32(), fields.u32()];
      const tap: Tap = { kind: "tap", path, name, multiQueue };
      return { ...tap, ...(owner === NO_ID ? {} : { owner }), ...(group === NO_ID ? {} : { group }) };
    }
    case TYPE.ask: {
      const [path, index, answers] = [fields.text(), fields.u32(), askKinds[fields.u32() - 1]];
      const [keyBytes, packets] = [fields.bytes(), packetsIn(fields.bytes())];
      const keys = answers === undefined ? undefined : askKeysIn(answers, keyBytes);
      const [deadlineMs, maxAnswers] = [fields.u32(), fields.u32()];
      if (answers === undefined || keys === undefined || packets === undefined) return undefined;
      return { kind: "ask", path, index, answers, keys, packets, deadlineMs, maxAnswers };
    }
    case TYPE.changes:
      return { kind: "changes", deadlineMs: fields.u32() };
    default:
      return undefined;
  }
}
