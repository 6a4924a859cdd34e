// The fields of each message, in the order in which they are read (PROTOCOL.md).

import { failed, ok, type Result } from "../../src/fault/result.ts";
import { FieldReader } from "./fields.ts";
import { type Frame, protocolFault } from "./frames.ts";
import { FOUND, NETFILTER, NO_ID, OUTCOMES, STDERR_TRUNCATED, STDOUT_TRUNCATED, TYPE } from "./message-numbers.ts";
import { askKinds, type EngineMessage, type Outcome, type ShimMessage, type Tap, zoneOperations } from "./messages.ts";
import { askKeysIn, packetsIn, settingsIn } from "./network-fields.ts";

/** Reads a message of the shim; undefined for an unknown type or an unknown value. */
export function readShimMessage(type: number, fields: FieldReader): ShimMessage | undefined {
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

/** Reads a message of an engine; undefined for an unknown type or an unknown value. */
export function readEngineMessage(type: number, fields: FieldReader): EngineMessage | undefined {
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
      const [second, allowsOwn, protocol] = [fields.text(), fields.u32() === 0, fields.u32()];
      return {
        ...netlink,
        ...(second === "" ? {} : { second }),
        ...(allowsOwn ? { allowsOwn } : {}),
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
    case TYPE.tap:
      return { kind: "tap", ...tapIn(fields) };
    case TYPE["labelled-tap"]:
      return { kind: "labelled-tap", ...tapIn(fields), selinuxContext: fields.text() };
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
    case TYPE.zone: {
      const [operation, zone, source] = [zoneOperations[fields.u32() - 1], fields.text(), fields.text()];
      return operation === undefined ? undefined : { kind: "zone", operation, zone, source };
    }
    default:
      return undefined;
  }
}

function tapIn(fields: FieldReader): Omit<Tap, "kind"> {
  const [path, name, multiQueue] = [fields.text(), fields.text(), fields.u32() === 1];
  const [owner, group] = [fields.u32(), fields.u32()];
  return { path, name, multiQueue, ...(owner === NO_ID ? {} : { owner }), ...(group === NO_ID ? {} : { group }) };
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
