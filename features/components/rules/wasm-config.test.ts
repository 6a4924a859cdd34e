import { describe, expect, test } from "vitest";
import { checkWasmConfig, wasmConfigText } from "./wasm-config.ts";

const digest = `sha256:${"a".repeat(64)}`;
const other = `sha256:${"b".repeat(64)}`;

describe("the configuration of a component", () => {
  const init = { created: "1970-01-01T00:00:00Z", layerDigest: digest, exports: [], imports: ["a"], target: "t" };

  test("names its layer; members that a tool left out are no mistake", () => {
    for (const text of [wasmConfigText(init), "{}"]) expect(checkWasmConfig(text, digest).ok).toBe(true);
  });

  test.each([
    ["no", "not JSON"],
    ["[]", "JSON object"],
    [JSON.stringify({ architecture: "amd64" }), "architecture"],
    [JSON.stringify({ os: "wasip1" }), "not a component"],
    [wasmConfigText({ ...init, layerDigest: other }), "layerDigests"],
  ])("%s is refused: %s", (text, why) => {
    expect(checkWasmConfig(text, digest)).toMatchObject({ ok: false, fault: { msg: expect.stringContaining(why) } });
  });
});
