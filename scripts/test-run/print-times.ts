// The end of `.ci/run`: prints where the time of the runs went that left a report in this tree. A run's repetition is part of its report.

import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

import { testDist } from "../../test/lab/compiled.ts";
import { timeLines } from "./run-times.ts";
import type { TestReport } from "./test-report.ts";

const paths = globSync(join(testDist, "reports", "*.json"), { exclude: ["**/*-repeated.json"] }).toSorted();
const reports = paths.map((path) => ({
  name: basename(path, ".json"),
  report: JSON.parse(readFileSync(path, "utf8")) as TestReport,
}));
for (const line of timeLines(reports)) console.log(line);
