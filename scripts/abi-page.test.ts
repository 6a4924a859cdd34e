import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { capabilitiesOf, currentAbi } from "../delegates/sdk/build/abi.ts";
import { docsOf } from "../wit/codegen/docs.ts";
import { grantNames } from "../src/configuration/keys/grant-keys.ts";
import type { WitModel } from "../wit/model.ts";
import { abiPage, abiPagePath } from "./abi-page.ts";

const model: WitModel = JSON.parse(readFileSync(`wit/${currentAbi}/generated/model.json`, "utf8"));
const docs = docsOf(readFileSync(`wit/${currentAbi}/delegate.wit`, "utf8"));

test("the contract's page is generated from the WIT (npm run docs)", () => {
  expect(readFileSync(abiPagePath, "utf8")).toBe(abiPage());
});

test("every capability of the contract can be granted, and has its grant on the page", () => {
  const capabilities = capabilitiesOf(currentAbi) ?? [];
  expect(capabilities.toSorted()).toEqual([...grantNames].toSorted());
  for (const name of capabilities) expect(abiPage()).toContain(`### ${name}\n\nGrant: \`wasm.grants.TYPE.${name}\``);
});

describe.each(Object.entries(model.interfaces))("the interface %s", (name, { functions }) => {
  test("has a description, as each of its functions, outside of those that repeat a verb of CNI", () => {
    const verbs = name === "delegation" ? ["add", "del", "check", "gc", "status"] : [];
    const silent = ["write", "save", "load"];
    const missing = Object.keys(functions).filter(
      (func) => !verbs.includes(func) && !silent.includes(func) && !docs.has(`${name}.${func}`),
    );
    expect({ described: name === "types" || docs.has(name), missing }).toEqual({ described: true, missing: [] });
  });
});
