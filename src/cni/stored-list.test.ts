import { expect, test } from "vitest";
import { listOfStored, maxStoredBytes, readStoredDocument } from "./stored-list.ts";

const remedy = "; set the network again, or remove the file";
const conflist = JSON.stringify({ cniVersion: "1.1.0", name: "storage", plugins: [{ type: "bridge" }] });

/** The types of the list's plugins in a file with this text, or the fault's kind and message. */
function read(text: string, networkName = "storage"): unknown {
  const document = readStoredDocument(text, "networks/storage");
  const list = document.ok ? listOfStored(document.value, "networks/storage", networkName) : document;
  return list.ok ? list.value.plugins.map(({ type }) => type) : `${list.fault.kind}: ${list.fault.msg}`;
}

test("a file has the list of its network", () => {
  expect(read(JSON.stringify({ form: 1, conflist, message: "AA==" }))).toEqual(["bridge"]);
});

test.each([{ conflist }, { form: 2, conflist }, { form: "1", conflist }])("a file of another form is refused: %j", (file) => {
  expect(read(JSON.stringify(file))).toBe(`STORE_FAILED: networks/storage was not written by this release of Plexus${remedy}`);
});

test("a damaged text is refused with its place", () => {
  expect(read(`{"form":1,"conflist":`)).toMatch(
    /^STORE_FAILED: .*networks\/storage.*; set the network again, or remove the file$/u,
  );
});

test("a text beyond the maximum is refused", () => {
  const longest = JSON.stringify({ form: 1, conflist, message: "" });
  const fill = (length: number): string => JSON.stringify({ form: 1, conflist, message: "x".repeat(length - longest.length) });
  expect(read(fill(maxStoredBytes))).toEqual(["bridge"]);
  expect(read(fill(maxStoredBytes + 1))).toMatch(/^STORE_FAILED: /u);
});

test.each([undefined, 5, "{", JSON.stringify({ name: 5 })])("a damaged list is refused: %j", (damaged) => {
  const refused = read(JSON.stringify({ form: 1, conflist: damaged }));
  expect(refused).toMatch(/^STORE_FAILED: .*networks\/storage.*; set the network again, or remove the file$/u);
});

test("a list of another name than the file's is refused", () => {
  expect(read(JSON.stringify({ form: 1, conflist }), "backup")).toBe(
    `STORE_FAILED: networks/storage has the network storage${remedy}`,
  );
});
