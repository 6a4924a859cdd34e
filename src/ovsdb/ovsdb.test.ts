import * as fc from "fast-check";
import { expect, test } from "vitest";
import { MessageSplitter } from "./message-splitter.ts";
import { readMessage, transactRequest } from "./messages.ts";
import { hasMarks, markedAttachment, markedOwner, attachmentMarks } from "./owner-marks.ts";
import { readInterface, readNamed, readPort } from "./port-operations.ts";
import { providedInterfaceId } from "./port-request.ts";

const bounds = { maxMessageBytes: 5_000, maxBytes: 10_000, maxDepth: 8 };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test("messages are found at the same places, however the stream is cut", () => {
  const message = fc.dictionary(
    fc.string(),
    fc.oneof(fc.string({ unit: "grapheme" }), fc.array(fc.integer()), fc.constant({ a: ["}{"] })),
    {
      maxKeys: 3,
    },
  );
  fc.assert(
    fc.property(fc.array(message, { maxLength: 4 }), fc.array(fc.nat(), { maxLength: 8 }), (messages, cuts) => {
      const stream = bytes(messages.map((each) => JSON.stringify(each)).join(" \n"));
      const splitter = new MessageSplitter({ ...bounds, maxMessageBytes: stream.length, maxBytes: stream.length });
      const ends = [...cuts.map((cut) => cut % (stream.length + 1)), stream.length].toSorted((a, b) => a - b);
      const found: unknown[] = [];
      let from = 0;
      for (const end of ends) {
        const split = splitter.push(stream.subarray(from, end));
        if (!split.ok) throw new Error(split.problem);
        found.push(...split.messages.map((text) => JSON.parse(text)));
        from = end;
      }
      expect(found).toEqual(messages);
    }),
  );
});

test.each([
  ["a text", "hello", "sends a message that is not a JSON object"],
  ["a list", "[1]", "sends a message that is not a JSON object"],
  ["too many levels", `{"a":${"[".repeat(8)}`, "sends a message with more than 8 levels"],
  ["too long a message", `{"a":"${"b".repeat(5_000)}`, "sends a message of more than 5000 bytes"],
  ["blanks without end", " ".repeat(5_001), "sends a message of more than 5000 bytes"],
  ["too many bytes", "{}".repeat(5_001), "sends more than 10000 bytes"],
])("a stream with %s is refused", (_, text, why) => {
  expect(new MessageSplitter(bounds).push(bytes(text))).toEqual({ ok: false, problem: why });
});

test("a message that is not UTF-8 is refused", () => {
  const split = new MessageSplitter(bounds).push(Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x7d));
  expect(split).toEqual({ ok: false, problem: "sends a message that is not UTF-8" });
});

test("a request names the database before its operations", () => {
  const select = { op: "select", table: "Bridge", where: [], columns: ["name"] };
  expect(JSON.parse(transactRequest(3, [select]))).toEqual({ id: 3, method: "transact", params: ["Open_vSwitch", select] });
});

test.each([
  [
    { id: 1, result: [{ rows: [{ name: "a" }] }, {}], error: null },
    { kind: "done", rows: [[{ name: "a" }], []] },
  ],
  [
    { id: 1, result: [{}, { error: "timed out" }, null] },
    { kind: "refused", operation: 1, error: "timed out", details: "" },
  ],
  [
    { id: 1, result: [{}, {}, { error: "constraint violation", details: "no" }] },
    { kind: "refused", operation: 2, error: "constraint violation", details: "no" },
  ],
  [
    { id: 1, result: null, error: { error: "unknown database" } },
    { kind: "refused", operation: 2, error: "unknown database", details: "" },
  ],
  [
    { id: 1, result: null, error: "syntax" },
    { kind: "refused", operation: 2, error: "syntax", details: "" },
  ],
])("the answer %j is read", (message, outcome) => {
  expect(readMessage(JSON.stringify(message), { id: 1, operations: 2 })).toEqual({ kind: "answer", outcome });
});

test.each([
  [{ id: 2, result: [{}, {}] }, "sends the answer to another request"],
  [{ id: 1, result: [{}] }, "sends an answer without the results of all operations"],
  [{ id: 1, result: [{}, {}, {}] }, "sends an answer without the results of all operations"],
  [{ id: 1, result: [{}, { rows: "none" }] }, "sends an answer without the results of all operations"],
  [{ id: 1, result: [{}, { rows: [1] }] }, "sends an answer without the results of all operations"],
  [{ id: 1, result: {} }, "sends an answer without the results of all operations"],
])("the answer %j is refused", (message, problem) => {
  expect(readMessage(JSON.stringify(message), { id: 1, operations: 2 })).toEqual({ kind: "invalid", problem });
});

test("an echo is answered with its own parameters, and a notification is passed over", () => {
  const expected = { id: 1, operations: 1 };
  const echo = readMessage('{"method":"echo","id":"echo","params":["x"]}', expected);
  expect(echo.kind === "echo" && JSON.parse(echo.reply)).toEqual({ id: "echo", result: ["x"], error: null });
  expect(readMessage('{"method":"update","id":null,"params":[]}', expected)).toEqual({ kind: "other" });
});

test("rows are read in each form of a set, and rows of another form are refused", () => {
  const id = "6f0c3f2e-7f0b-4c58-9a53-7d1c6f0f7a10";
  const row = {
    _uuid: ["uuid", id],
    name: "veth1",
    external_ids: ["map", [["a", "b"]]],
    ofport: 3,
    error: ["set", []],
    link_state: "up",
  };
  const read = {
    id,
    name: "veth1",
    externalIds: new Map([["a", "b"]]),
    number: 3,
    error: undefined,
    linkUp: true,
    requestedNumber: undefined,
  };
  expect(readInterface(row)).toEqual(read);
  expect(readInterface({ ...row, ofport: ["set", [3]] })).toEqual(read);
  expect(readInterface({ ...row, ofport: ["set", []], link_state: ["set", []] })).toEqual({
    ...read,
    number: undefined,
    linkUp: false,
  });
  for (const bad of [{ _uuid: ["uuid", "x"] }, { name: 7 }, { external_ids: ["map", [["a", 1]]] }, { external_ids: {} }]) {
    expect(readInterface({ ...row, ...bad })).toBeUndefined();
  }
  expect(readNamed({ _uuid: id, name: "a" })).toBeUndefined();
});

test("the VLANs of a port are read as ranges, and other values are refused", () => {
  const port = { _uuid: ["uuid", "6f0c3f2e-7f0b-4c58-9a53-7d1c6f0f7a10"], name: "veth1", tag: ["set", []], trunks: ["set", []] };
  const trunksOf = (trunks: unknown) => readPort({ ...port, trunks })?.trunks;
  expect(readPort(port)).toMatchObject({ name: "veth1", tag: undefined, trunks: [] });
  expect(readPort({ ...port, tag: 7 })).toMatchObject({ tag: 7 });
  expect(trunksOf(9)).toEqual([{ first: 9, last: 9 }]);
  expect(trunksOf(["set", [12, 4095, 10, 11]])).toEqual([
    { first: 10, last: 12 },
    { first: 4095, last: 4095 },
  ]);
  for (const bad of [undefined, "9", ["set", ["9"]], ["map", []], [9]]) expect(trunksOf(bad)).toBeUndefined();
  expect(readPort({ ...port, tag: "7" })).toBeUndefined();
});

test("a port's marks name its owner, and other external_ids name none", () => {
  const marks = attachmentMarks({ type: "external-port", network: "backend" }, { containerId: "pod-1", ifname: "net1" });
  const ids = new Map([...marks, ["iface-id", "x"]]);
  expect(hasMarks(ids, marks)).toBe(true);
  expect(hasMarks(new Map([...ids, ["plexus-network", "other"]]), marks)).toBe(false);
  expect(markedAttachment(ids)).toEqual({ containerId: "pod-1", ifname: "net1" });
  expect(markedOwner(ids)).toBe("delegate external-port, network backend, attachment pod-1/net1");
  for (const text of ["", "/net1", "pod-1"]) expect(markedAttachment(new Map([["plexus-attachment", text]]))).toBeUndefined();
  expect(markedOwner(new Map([["iface-id", "x"]]))).toBeUndefined();
});

const boundTo = (binding: unknown) => providedInterfaceId({ runtimeConfig: { externalPort: { binding } } });

test("only an interface ID at its own place in runtimeConfig is the external port's", () => {
  expect(boundTo({ type: "ovs", interfaceId: "mine" })).toBe("mine");
  for (const binding of [undefined, null, "mine", ["mine"], { interfaceId: 7 }]) expect(boundTo(binding)).toBeUndefined();
  for (const config of [undefined, null, [], { interfaceId: "mine" }, { externalPort: {} }]) {
    expect(providedInterfaceId(config)).toBeUndefined();
  }
});
