import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { usualFlags } from "./tier-up.ts";

const program = `
import { cachedDataVersionTag } from "node:v8";
import { tierUpSooner } from ${JSON.stringify(new URL("./tier-up.ts", import.meta.url).href)};
const before = cachedDataVersionTag();
tierUpSooner();
const meanwhile = cachedDataVersionTag();
process.on("exit", () => console.log(JSON.stringify({ takes: meanwhile !== before, restored: cachedDataVersionTag() === before })));
`;

test("V8 has these flags, with these values where nobody sets them", () => {
  const options = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });
  expect(usualFlags.filter((flag) => !options.includes(`default: ${flag}\n`))).toEqual([]);
});

test("V8 takes them, and its cache of compiled code is kept as by a process without them", () => {
  const told = execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8", env: {} });
  expect(JSON.parse(told)).toEqual({ takes: true, restored: true });
});
