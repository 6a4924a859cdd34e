import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { defaultFlags } from "../../../host/system/v8/tier-up.ts";

const program = `
import { cachedDataVersionTag } from "node:v8";
import { tierUpSooner } from ${JSON.stringify(new URL("../../../host/system/v8/tier-up.ts", import.meta.url).href)};
const before = cachedDataVersionTag();
tierUpSooner();
const meanwhile = cachedDataVersionTag();
process.on("exit", () => console.log(JSON.stringify({ takes: meanwhile !== before, restored: cachedDataVersionTag() === before })));
`;

test("V8 has these flags with these defaults", () => {
  const options = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });
  expect(defaultFlags.filter((flag) => !options.includes(`default: ${flag}\n`))).toEqual([]);
});

test("V8 accepts the flags, and its code cache is valid for a process without them", () => {
  const result = execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8", env: {} });
  expect(JSON.parse(result)).toEqual({ takes: true, restored: true });
});
