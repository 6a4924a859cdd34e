import { expect, test } from "vitest";
import { isAbsence } from "./absence.ts";

test("only the API server's own answers tell that something does not exist", () => {
  const status = JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", reason: "NotFound", code: 404 });
  expect([status, "404 page not found\n"].map(isAbsence)).toEqual([true, true]);
  const others = ["", "<html><h1>404 Not Found</h1></html>", "default backend - 404", '{"error":"no route"}', "[]", "null"];
  expect(others.filter(isAbsence)).toEqual([]);
});
