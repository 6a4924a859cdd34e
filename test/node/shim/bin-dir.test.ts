import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { callWith, type ShimCall } from "./testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "./testing/workshop.ts";

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.dispose());

/** The CNI_PATH that the engine gets. */
async function pathFor(stdin: string, env: ShimCall["env"] = { CNI_PATH: "/a:/b" }): Promise<string | undefined> {
  let path: string | undefined;
  await callWith(
    async (engine) => {
      path = (await engine.request()).environment.get("CNI_PATH");
    },
    { shim: shop.shim, stdin, env },
  );
  return path;
}

describe("MC-04 binDir", () => {
  test.each([
    ['{"binDir":"/opt/x"}', "/opt/x:/a:/b"],
    ['\n{ "name" : "n", "a":{"binDir":"/no"}, "binDir" \t:\r\n "/opt/with space", "z":1}', "/opt/with space:/a:/b"],
    ['{"list":[1,{"binDir":"/no"}],"text":"\\"binDir\\":\\"/no\\"","binDir":"/yes"}', "/yes:/a:/b"],
    ['{"text":"binDir","other":"}{","binDir":"/yes"}', "/yes:/a:/b"],
  ])("of %s is put before CNI_PATH", async (stdin, path) => {
    expect(await pathFor(stdin)).toBe(path);
  });

  test.each([
    "",
    "{}",
    '{"binDir":""}',
    '{"binDir":"relative"}',
    '{"binDir":"/a:/b"}',
    '{"binDir":"/a\\u0000"}',
    '{"binDir":5}',
    '{"binDir":["/x"]}',
    '{"bindir":"/x"}',
    '{"binDir":"/x',
    '{"binDir"',
    '{"runtimeConfig":{"binDir":"/x"}}',
    '["binDir","/x"]',
    '"binDir":"/x"',
    `{"binDir":"/${"x".repeat(5000)}"}`,
  ])("of %s changes nothing", async (stdin) => {
    expect(await pathFor(stdin)).toBe("/a:/b");
  });

  test("is the whole CNI_PATH if the runtime sets none", async () => {
    expect(await pathFor('{"binDir":"/x"}', {})).toBe("/x");
  });

  test("is searched first for types", async () => {
    const [first, second] = ["first", "second"].map((name) => join(shop.directory, name));
    for (const directory of [first ?? "", second ?? ""]) {
      mkdirSync(directory);
      writeFileSync(join(directory, "twice"), "#!/bin/sh\n", { mode: 0o755 });
    }
    const call = { shim: shop.shim, stdin: JSON.stringify({ binDir: first }), env: { CNI_PATH: second ?? "" } };
    await callWith(async (engine) => {
      await engine.request(); // before it the shim has not read stdin
      expect(await engine.find("twice")).toMatchObject({ what: "native", path: join(first ?? "", "twice") });
    }, call);
  });

  test("is found in a JSON object exactly if JSON.parse finds it", async () => {
    const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom<unknown>("/x", { binDir: "/no" }, 'a"b\\', "}{"));
    const object = fc.dictionary(fc.oneof(fc.string({ maxLength: 4 }), fc.constant("binDir")), value, { maxKeys: 4 });
    await fc.assert(
      fc.asyncProperty(object, async (members) => {
        const found = members["binDir"];
        const counts = typeof found === "string" && /^\/[^:\\"\p{Cc}]*$/u.test(found);
        expect(await pathFor(JSON.stringify(members))).toBe(counts ? `${found}:/a:/b` : "/a:/b");
      }),
      { numRuns: 60 },
    );
  });
});
