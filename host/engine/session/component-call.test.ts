import { expect, test } from "vitest";
import { defaultWasm } from "../../../src/configuration/wasm-configuration.ts";
import { bareConfiguration } from "./component-call.ts";

test("the configuration of a direct call has the defaults", () => {
  expect(bareConfiguration()).toMatchObject({ wasm: defaultWasm, stepTimeoutMs: 60_000, goMaxProcs: 1 });
});
