import { expect, test } from "vitest";
import { readListPage, readWatchEvent } from "./object-list.ts";

test("a page has the token for the next page, and the last page has none", () => {
  const page = { kind: "PodList", metadata: { resourceVersion: "7", continue: "token" }, items: [{ a: 1 }] };
  expect(readListPage(JSON.stringify(page))).toEqual({ items: [{ a: 1 }], version: "7", next: "token" });
  expect(readListPage('{"metadata":{"resourceVersion":"7"},"items":null}')).toEqual({ items: [], version: "7", next: "" });
});

test.each([
  "",
  "[]",
  "{}",
  '{"metadata":{}}',
  '{"metadata":{"resourceVersion":"7"},"items":{}}',
  '{"metadata":{"resourceVersion":7}}',
])("no list: %s", (body) => {
  expect(readListPage(body)).toBe(undefined);
});

const object = { metadata: { name: "a", resourceVersion: "9" } };
test.each([
  ["ADDED", { kind: "put", object, version: "9" }],
  ["MODIFIED", { kind: "put", object, version: "9" }],
  ["DELETED", { kind: "remove", object, version: "9" }],
  ["BOOKMARK", { kind: "bookmark", version: "9" }],
  ["SURPRISE", undefined],
])("a watch's %s", (type, expected) => {
  expect(readWatchEvent(JSON.stringify({ type, object }))).toEqual(expected);
});

test("the end of a watch has its code", () => {
  const gone = { type: "ERROR", object: { kind: "Status", code: 410, message: "too old resource version" } };
  expect(readWatchEvent(JSON.stringify(gone))).toEqual({ kind: "error", code: 410, message: "too old resource version" });
});

test.each(["", "null", '{"type":"ADDED"}', '{"type":"ADDED","object":{}}', '{"type":"BOOKMARK","object":{"metadata":{}}}'])(
  "no event: %s",
  (line) => {
    expect(readWatchEvent(line)).toBe(undefined);
  },
);
