import { expect, test } from "vitest";
import { listedFor } from "./pod-lists.ts";

test("a DEL gets the beginning of a long list about the pod; other calls and the node's lists are whole", () => {
  const long = Array.from({ length: 5000 }, (_, index) => index);
  expect(listedFor({ verb: "DEL" }, "pod", long)).toEqual(long.slice(0, 1024));
  expect(listedFor({ verb: "DEL" }, "pod", long.slice(0, 3))).toEqual([0, 1, 2]);
  expect([listedFor({ verb: "ADD" }, "pod", long), listedFor({ verb: "DEL" }, "host", long)]).toEqual([long, long]);
});
