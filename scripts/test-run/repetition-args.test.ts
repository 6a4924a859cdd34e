import { expect, test } from "vitest";
import { repetitionArgs } from "./repetition-args.ts";

test("a repetition has the projects, the limits of time and the filter of titles of the first run", () => {
  const limits = ["--testTimeout=900000", "--hookTimeout", "900000"];
  const args = ["--project", "places", ...limits, "test/peers/a.test.ts", "-t", "macvlan|tuning", "--project", "unit"];
  expect(repetitionArgs(args)).toEqual(["--project", "places", ...limits, "-t", "macvlan|tuning", "--project", "unit"]);
});

test("a repetition has its own files and its own number of workers", () => {
  expect(repetitionArgs(["--maxWorkers", "2", "test/cluster/", "--maxWorkers=1", "--bail"])).toEqual(["--bail"]);
});
