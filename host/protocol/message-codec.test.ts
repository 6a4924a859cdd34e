import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { Frame } from "./frames.ts";
import { decodeShimMessage, encodeMessage } from "./message-codec.ts";
import { decodeEngineMessage } from "./testing/decode-engine-message.ts";
import type { EngineMessage, ShimMessage, Netlink, Packet } from "./messages.ts";

const u32 = fc.nat({ max: 0xffff_ffff });
/** The highest u32 stands for an absent owner or group. */
const account = fc.nat({ max: 0xffff_fffe });
const bytes = fc.uint8Array({ maxLength: 300 });
const text = fc.string({ unit: "grapheme", maxLength: 40 }).map((value) => value.replaceAll("\0", ""));
const environment = fc
  .array(
    fc.tuple(
      text.map((key) => `K${key.replaceAll("=", "")}`),
      text,
    ),
    { maxLength: 8 },
  )
  .map((entries) => new Map(entries));

const shimMessage: fc.Arbitrary<ShimMessage> = fc.oneof(
  fc.record({ kind: fc.constant("request" as const), name: text, environment, stdin: bytes, under: u32 }),
  fc.record({ kind: fc.constant("agent" as const), environment }),
  fc.record({
    kind: fc.constant("executed" as const),
    outcome: fc.oneof(
      fc.record({ kind: fc.constant("exited" as const), status: u32 }),
      fc.record({ kind: fc.constant("signalled" as const), signal: u32 }),
      fc.record({ kind: fc.constantFrom("deadline-passed" as const, "not-found" as const, "text-busy" as const) }),
      fc.record({ kind: fc.constant("not-startable" as const), errno: u32 }),
    ),
    microseconds: u32,
    stdoutTruncated: fc.boolean(),
    stderrTruncated: fc.boolean(),
    stdout: bytes,
    stderr: bytes,
    path: text,
  }),
  fc.record({
    kind: fc.constant("found" as const),
    what: fc.constantFrom("nothing", "native", "component"),
    path: text,
    identity: text,
  }),
  fc.record({ kind: fc.constant("done" as const), errno: u32, sent: fc.boolean(), reply: bytes }),
  fc.record({ kind: fc.constant("content" as const), errno: u32, content: bytes }),
);

const engineMessage: fc.Arbitrary<EngineMessage> = fc.oneof(
  fc.record({ kind: fc.constant("reply" as const), status: u32, stdout: bytes, stderr: bytes }),
  fc.record(
    {
      kind: fc.constant("exec" as const),
      type: text,
      environment,
      stdin: bytes,
      deadlineMs: u32,
      stdoutCap: u32,
      stderrCap: u32,
      nestedCallDirectory: text.map((name) => `n${name}`),
    },
    { requiredKeys: ["kind", "type", "environment", "stdin", "deadlineMs", "stdoutCap", "stderrCap"] },
  ),
  fc.record({ kind: fc.constant("find" as const), type: text, componentFirst: fc.boolean() }),
  fc.record({ kind: fc.constant("read" as const), path: text, cap: u32 }),
  fc.record(
    {
      kind: fc.constant("netlink" as const),
      path: text,
      second: text.filter((path) => path !== ""),
      allowsOwn: fc.constant(true),
      protocol: fc.constant("netfilter" as const),
      request: bytes,
      deadlineMs: u32,
    },
    { requiredKeys: ["kind", "path", "request", "deadlineMs"] },
  ),
  fc.record({
    kind: fc.constant("sysctl" as const),
    path: text,
    settings: fc.array(fc.record({ key: text, value: text }), { maxLength: 5 }),
  }),
  fc.record({
    kind: fc.constant("packet" as const),
    path: text,
    index: u32,
    packets: fc.array(
      fc.record({
        ethertype: fc.nat({ max: 0xffff }),
        destination: fc.uint8Array({ minLength: 6, maxLength: 6 }),
        payload: bytes,
      }),
      { maxLength: 5 },
    ),
  }),
  fc.record(
    { kind: fc.constant("tap" as const), path: text, name: text, multiQueue: fc.boolean(), owner: account, group: account },
    { requiredKeys: ["kind", "path", "name", "multiQueue"] },
  ),
  fc.record(
    {
      kind: fc.constant("labelled-tap" as const),
      path: text,
      name: text,
      multiQueue: fc.boolean(),
      owner: account,
      group: account,
      selinuxContext: text,
    },
    { requiredKeys: ["kind", "path", "name", "multiQueue", "selinuxContext"] },
  ),
);

/** A frame as the decoder of a stream returns it. */
function arrived(frame: Frame): Frame {
  return { ...frame, payload: new Uint8Array(frame.payload) };
}

describe("messages", () => {
  test("every message of either side is decoded unchanged", () => {
    fc.assert(
      fc.property(u32, shimMessage, (channel, message) => {
        const frame = encodeMessage(channel, message);
        expect(frame.ok && decodeShimMessage(arrived(frame.value))).toEqual({ ok: true, value: message });
        expect(frame.ok && decodeEngineMessage(arrived(frame.value)).ok).toBe(false);
      }),
    );
    fc.assert(
      fc.property(u32, engineMessage, (channel, message) => {
        const frame = encodeMessage(channel, message);
        expect(frame.ok && decodeEngineMessage(arrived(frame.value))).toEqual({ ok: true, value: message });
        expect(frame.ok && decodeShimMessage(arrived(frame.value)).ok).toBe(false);
      }),
    );
  });

  test("a payload that is incomplete or has an extra byte is refused", () => {
    fc.assert(
      fc.property(fc.oneof(shimMessage, engineMessage), fc.nat(), (message, where) => {
        const frame = encodeMessage(1, message);
        if (!frame.ok) throw new Error(frame.fault.msg);
        const { payload } = frame.value;
        const decode = frame.value.type < 16 ? decodeShimMessage : decodeEngineMessage;
        expect(decode({ ...frame.value, payload: Buffer.concat([payload, Uint8Array.of(0)]) })).toMatchObject({
          ok: false,
          fault: { kind: "SHIM_PROTOCOL" },
        });
        const cut = payload.subarray(0, payload.length === 0 ? 0 : where % payload.length);
        expect(decode({ ...frame.value, payload: cut }).ok).toBe(payload.length === 0);
      }),
    );
  });

  test("any bytes as a payload give a message or a fault, never an exception", () => {
    fc.assert(
      fc.property(fc.nat({ max: 26 }), fc.uint8Array({ maxLength: 64 }), (type, payload) => {
        const answers = [decodeShimMessage({ type, channel: 1, payload }), decodeEngineMessage({ type, channel: 1, payload })];
        for (const answer of answers) expect(answer.ok || answer.fault.kind === "SHIM_PROTOCOL").toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test("EXEC's fields are in the order of PROTOCOL.md", () => {
    const frame = encodeMessage(2, {
      kind: "exec",
      type: "T",
      environment: new Map([
        ["A", "b"],
        ["C", ""],
      ]),
      stdin: "{}",
      deadlineMs: 0x0102_0304,
      stdoutCap: 5,
      stderrCap: 6,
      nestedCallDirectory: "/n",
    });
    expect(frame).toMatchObject({ ok: true, value: { type: 17, channel: 2 } });
    expect(frame.ok && Buffer.from(frame.value.payload).toString("latin1")).toBe(
      "\x01\0\0\0T\x07\0\0\0A=b\0C=\0\x02\0\0\0{}\x04\x03\x02\x01\x05\0\0\0\x06\0\0\0\x02\0\0\0/n",
    );
  });

  test.each([
    ["a variable without a name", { environment: new Map([["", "x"]]) }, 'a variable can\'t have the name ""'],
    ["a variable with = in its name", { environment: new Map([["A=B", "x"]]) }, "can't have the name"],
    ["a NUL in a value", { environment: new Map([["CNI_ARGS", "a\0PATH=/evil"]]) }, "CNI_ARGS contains a NUL"],
    ["a NUL in the type", { type: "bridge\0x" }, "contains a NUL"],
    ["a NUL in the nested-call directory", { nestedCallDirectory: "/n\0" }, "contains a NUL"],
    ["a NUL in a second namespace's path", netlink({ second: "/p\0" }), "contains a NUL"],
    [
      "a NUL in a setting",
      { kind: "sysctl", path: "", settings: [{ key: "net/a", value: "1\0net/b" }] } as const,
      "contains a NUL",
    ],
    ["a NUL in a tap's name", { kind: "tap", path: "", name: "t\0", multiQueue: false } as const, "contains a NUL"],
    [
      "a NUL in an SELinux context",
      { kind: "labelled-tap", path: "", name: "t", multiQueue: false, selinuxContext: "u:r:t\0" } as const,
      "contains a NUL",
    ],
    ["a hardware address of 8 bytes", packetTo(new Uint8Array(8)), "a destination that is not 6 bytes long"],
  ])("%s is refused by the engine, before the shim would end the call", (_, wrong, message) => {
    const exec = {
      kind: "exec",
      type: "T",
      environment: new Map(),
      stdin: "",
      deadlineMs: 1,
      stdoutCap: 1,
      stderrCap: 1,
    } as const;
    expect(encodeMessage(1, "kind" in wrong ? wrong : { ...exec, ...wrong })).toMatchObject({
      ok: false,
      fault: { kind: "SHIM_PROTOCOL", msg: expect.stringContaining(message) },
    });
  });

  test("the first of two variables with one name counts, as for getenv; an entry without a name is skipped", () => {
    const block = "A=1\0A=2\0nothing\0=x\0B=c=d\0";
    const payload = Buffer.concat([le(1), Buffer.from("p"), le(block.length), Buffer.from(block), le(0), le(0)]);
    const decoded = decodeShimMessage({ type: 1, channel: 0, payload });
    expect(decoded).toMatchObject({
      ok: true,
      value: {
        environment: new Map([
          ["A", "1"],
          ["B", "c=d"],
        ]),
      },
    });
  });

  test("values that are not in the protocol are refused", () => {
    expect(decodeShimMessage({ type: 3, channel: 1, payload: Buffer.concat([le(3), le(0), le(0)]) }).ok).toBe(false);
    expect(
      decodeShimMessage({ type: 2, channel: 1, payload: Buffer.concat([le(6), le(0), le(0), le(0), le(0), le(0), le(0)]) }).ok,
    ).toBe(false);
  });
});

function le(value: number): Buffer {
  const field = Buffer.alloc(4);
  field.writeUInt32LE(value);
  return field;
}

function netlink(more: Partial<Netlink>): Netlink {
  return { kind: "netlink", path: "", request: new Uint8Array(), deadlineMs: 1, ...more };
}

function packetTo(destination: Uint8Array): Packet {
  return { kind: "packet", path: "", index: 1, packets: [{ ethertype: 2054, destination, payload: new Uint8Array() }] };
}
