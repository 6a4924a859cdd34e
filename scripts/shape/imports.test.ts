import { expect, test } from "vitest";
import { closure, importsOf } from "./imports.ts";

test("imports are static, erased or dynamic; packages are left out", () => {
  const text = `import { readFileSync } from "node:fs";
    import zod from "zod";
    import { a } from "./a.ts";
    import type { B } from "../b.ts";
    import { type C, type D } from "./c.ts";
    import { type E, f } from "./e.ts";
    export { g } from "./g.ts";
    export type { H } from "./h.ts";
    const i = async () => import("./i.ts");`;
  expect(importsOf("x/y/z.ts", text)).toEqual([
    { to: "x/y/a.ts", kind: "static" },
    { to: "x/b.ts", kind: "type" },
    { to: "x/y/c.ts", kind: "type" },
    { to: "x/y/e.ts", kind: "static" },
    { to: "x/y/g.ts", kind: "static" },
    { to: "x/y/h.ts", kind: "type" },
    { to: "x/y/i.ts", kind: "dynamic" },
  ]);
});

test("a closure follows imports of the given kinds, and circles end", () => {
  const imports = new Map([
    [
      "a.ts",
      [
        { to: "b.ts", kind: "static" as const },
        { to: "t.ts", kind: "type" as const },
      ],
    ],
    [
      "b.ts",
      [
        { to: "a.ts", kind: "static" as const },
        { to: "d.ts", kind: "dynamic" as const },
      ],
    ],
  ]);
  expect([...closure(imports, ["a.ts"], ["static"])]).toEqual(["a.ts", "b.ts"]);
  expect([...closure(imports, ["a.ts"], ["static", "dynamic", "type"])]).toEqual(["a.ts", "b.ts", "t.ts", "d.ts"]);
});
