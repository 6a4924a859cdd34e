// Tests beside their sources start no process and need no privilege: a worker runs them one after the other, also on a machine without a build.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../lab/compiled.ts";

/** Modules that start processes, and the functions of the lab for what a machine may lack. */
const needsPlace =
  /\bfrom "(?:node:(?:child_process|cluster|worker_threads)|execa)"|\bmissing\(|\b(?:openStage|installPlexus|startDaemon|compiledPlugin)\(/;

/** Tests that may, with the reason. */
const exceptions: ReadonlyMap<string, string> = new Map([
  ["host/store/journal/journal.test.ts", "mkfifo(1) makes a pipe; Node has no function for it"],
]);

const read = (path: string): string => readFileSync(join(root, path), "utf8");
const files = globSync("{wit,src,host,features,scripts,bench}/**/*.test.ts", { cwd: root }).toSorted();

test("tests beside their sources start no process and need no build; others are in a folder of test/", () => {
  expect(files.filter((file) => !exceptions.has(file) && needsPlace.test(read(file)))).toEqual([]);
  expect([...exceptions.keys()].filter((file) => !needsPlace.test(read(file)))).toEqual([]);
  expect(files.length).toBeGreaterThan(250);
});

describe("the folders of test/", () => {
  const page = read("CONTRIBUTING.md");

  test("are the table of CONTRIBUTING.md, and a run has each of them", () => {
    const folders = globSync("test/*/", { cwd: root })
      .map((path) => path.replace(/\/$/, ""))
      .toSorted();
    const named = [...page.matchAll(/^\| `(test\/\w+)\/` \|/gm)].map(([, folder = ""]) => folder).toSorted();
    expect(named).toEqual(folders);
    const config = read("vitest.config.ts");
    const run = /test\/\{([\w,]+)\}/.exec(config)?.[1]?.split(",") ?? [];
    expect([...run.map((name) => `test/${name}`), "test/cluster", "test/lab", "test/peers"].toSorted()).toEqual(folders);
  });
});
