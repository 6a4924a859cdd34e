import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { engineVariables, searchTimeMs, searchTimeVariable } from "./engine-variables.ts";

const shimSource = fileURLToPath(new URL("../shim/plugin-environment.c", import.meta.url));

test("EXEC carries the variables of the call, of the trace and of Go; CNI_PATH and all others are the runtime's", () => {
  const environment = [
    ["PATH", "/bin"],
    ["LD_PRELOAD", "/x.so"],
    ["CNI_COMMAND", "ADD"],
    ["CNI_PATH", "/opt/cni/bin"],
    ["CNI_ARGS", "A=\udcff"],
    ["TRACEPARENT", "00"],
    ["CNI", "x"],
    ["PLEXUS_SOCKET", "/s"],
  ] as const;
  expect([...engineVariables(environment).keys()]).toEqual(["CNI_COMMAND", "CNI_ARGS", "TRACEPARENT"]);
});

test("EXEC carries each variable that the shim accepts by name", () => {
  const [, list = ""] = /engine_names\[\] = \{(.*)\}/.exec(readFileSync(shimSource, "utf8")) ?? [];
  const names = [...list.matchAll(/"([A-Z_]+)="/g)].map(([, name = ""]) => name);
  expect(names).toHaveLength(5);
  expect([...engineVariables(names.map((name) => [name, "x"])).keys()]).toEqual(names);
});

test.for([
  ["1500", 1500],
  ["", 0],
  ["-1", 0],
  ["1e9", 0],
  ["9999999", 0],
] as const)("%j milliseconds of search count as %i", ([text, ms]) => {
  expect(searchTimeMs(new Map([[searchTimeVariable, text]]))).toBe(ms);
});

test("a shim that found an engine at once names no time", () => {
  expect(searchTimeMs(new Map())).toBe(0);
});
