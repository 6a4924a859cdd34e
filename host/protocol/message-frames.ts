// Messages to frames and back.

import { failed, ok, type Result } from "../../src/fault/result.ts";
import { environmentMistake, FieldReader, FieldWriter } from "./fields.ts";
import { protocolFault, type Frame } from "./frames.ts";
import { TYPE } from "./message-numbers.ts";
import { readEngineMessage, readShimMessage } from "./message-readers.ts";
import { writeMessage } from "./message-writers.ts";
import type { EngineMessage, ShimMessage } from "./messages.ts";
import { askKeyBytes, HARDWARE_ADDRESS_BYTES } from "./network-fields.ts";

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
