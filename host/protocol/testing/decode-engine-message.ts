// Reads messages of an engine, for tests that play the shim.

import type { Result } from "../../../src/fault/result.ts";
import { FieldReader } from "../fields.ts";
import type { Frame } from "../frames.ts";
import { checkedMessage } from "../message-codec.ts";
import { NETFILTER, NO_ID, TYPE } from "../message-numbers.ts";
import { askKinds, type EngineMessage, type Tap, zoneOperations } from "../messages.ts";
import { askKeysIn, packetsIn, settingsIn } from "../network-fields.ts";

/** Decodes a frame from an engine. Fault SHIM_PROTOCOL. */
export function decodeEngineMessage(frame: Frame): Result<EngineMessage> {
  const fields = new FieldReader(frame.payload);
  const message = readEngineMessage(frame.type, fields);
  return checkedMessage(frame, fields, message);
}

/** Reads a message of an engine; undefined for an unknown type or an unknown value. */
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
