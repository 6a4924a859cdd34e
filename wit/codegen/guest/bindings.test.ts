import { describe, expect, test } from "vitest";
import type { WitModel } from "../../model.ts";
import { bindingsOf, currentAbi, readAbi } from "../../../delegates/sdk/build/abi.ts";
import { readWit } from "../read-wit.ts";
import { generate } from "./bindings.ts";

const modelOf = (body: string): Promise<WitModel> => readWit(`package a:b;\n${body}`);

test("the exports of a delegate's entry have the names of the component model", () => {
  const abi = readAbi(currentAbi);
  const names = abi === null ? undefined : bindingsOf(abi).entry.exportNames;
  expect(names?.get("plugin_add")).toBe("cni:delegate/plugin@1.1.0#add");
  expect(names?.get("plugin_add_post")).toBe("cabi_post_cni:delegate/plugin@1.1.0#add");
  expect(names?.get("cabi_realloc")).toBe("cabi_realloc");
});

describe("unsupported features", () => {
  test.each([
    ["resources", "interface i { resource r; f: func(v: borrow<r>); } world w { import i; }", /resource r/],
    ["streams", "interface i { f: func() -> stream<u8>; } world w { import i; }", /a stream is not part/],
    ["futures", "interface i { f: func() -> future<u8>; } world w { import i; }", /a future is not part/],
    ["functions of the world itself", "world w { export f: func(); }", /function of the world itself/],
    ["interfaces written inside a world", "world w { import i: interface { f: func(); } }", /interface i written inside a world/],
  ])("%s are refused by name", async (_what, wit, message) => {
    await expect(modelOf(wit)).rejects.toThrow(message);
  });

  test("more than 32 flags are refused", async () => {
    const flags = Array.from({ length: 33 }, (_, i) => `flag${i}`).join(", ");
    const model = await modelOf(`interface i { flags f { ${flags} } g: func(v: f); } world w { import i; }`);
    expect(() => generate({ model, world: "w", bindings: ".", implementation: () => "" })).toThrow(/33, the ABI has at most 32/);
  });

  test("an unknown world is refused with the known worlds", async () => {
    const model = await modelOf("interface i { f: func(); } world w { import i; }");
    expect(() => generate({ model, world: "v", bindings: ".", implementation: () => "" })).toThrow(/no world v, only w/);
  });
});
