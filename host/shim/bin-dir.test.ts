import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { callWith, type HandsCall } from "./testing/scripted-brain.ts";
import { openWorkshop, type Workshop } from "./testing/workshop.ts";

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.dispose());

/** The CNI_PATH that the brain is told. */
async function pathFor(stdin: string, env: HandsCall["env"] = { CNI_PATH: "/a:/b" }): Promise<string | undefined> {
  let path: string | undefined;
  await callWith(
    async (brain) => {
      path = (await brain.request()).environment.get("CNI_PATH");
    },
    { hands: shop.hands, stdin, env },
  );
  return path;
}

describe("MC-04 binDir", () => {
  test.each([
    ['{"binDir":"/opt/x"}', "/opt/x:/a:/b"],
    ['\n{ "name" : "n", "a":{"binDir":"/no"}, "binDir" \t:\r\n "/opt/with space", "z":1}', "/opt/with space:/a:/b"],
    ['{"list":[1,{"binDir":"/no"}],"text":"\\"binDir\\":\\"/no\\"","binDir":"/yes"}', "/yes:/a:/b"],
    ['{"text":"binDir","other":"}{","binDir":"/yes"}', "/yes:/a:/b"],
  ])("of %s leads CNI_PATH", async (stdin, path) => {
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

  test("is all of CNI_PATH where the runtime gives none", async () => {
    expect(await pathFor('{"binDir":"/x"}', {})).toBe("/x");
  });

  test("is where types are looked up first", async () => {
    const [first, second] = ["first", "second"].map((name) => join(shop.directory, name));
    for (const directory of [first ?? "", second ?? ""]) {
      mkdirSync(directory);
      writeFileSync(join(directory, "twice"), "#!/bin/sh\n", { mode: 0o755 });
    }
    const call = { hands: shop.hands, stdin: JSON.stringify({ binDir: first }), env: { CNI_PATH: second ?? "" } };
    await callWith(async (brain) => {
      await brain.request(); // before it the hands have not read stdin
      expect(await brain.find("twice")).toMatchObject({ what: "native", path: join(first ?? "", "twice") });
    }, call);
  });

  test("is found in any JSON object exactly where JSON.parse finds it", async () => {
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
