import { expect, test } from "vitest";
import { WrittenTables } from "./written-tables.ts";

test("PO-16: the table of a container is forgotten with the container, and the number of tables is bounded", () => {
  const tables = new WrittenTables<{ netns: string }>(3);
  for (const id of ["a", "b", "c", "d"]) tables.note(id, { netns: `/ns/${id}` });
  expect(["a", "b", "c", "d"].map((id) => tables.get(id, `/ns/${id}`)?.netns)).toEqual([undefined, "/ns/b", "/ns/c", "/ns/d"]);
  // Another network namespace of the same container is another pod's.
  expect(tables.get("b", "/ns/x")).toBeUndefined();
  tables.forget("b");
  tables.note("c", undefined);
  expect([tables.get("b", "/ns/b"), tables.get("c", "/ns/c"), tables.size]).toEqual([undefined, undefined, 1]);
  tables.note("e", { netns: "/ns/e" });
  tables.keepOnly(new Set(["e", "z"]));
  expect([...tables.all()]).toEqual([{ netns: "/ns/e" }]);
});
