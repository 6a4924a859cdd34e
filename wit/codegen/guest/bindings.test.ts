import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { WitModel } from "../../model.ts";
import { bindingsOf, currentAbi, readAbi } from "../../../delegates/sdk/build/abi.ts";
import { echoBindings } from "../../../delegates/sdk/testing/echo.ts";
import { readWit } from "../read-wit.ts";
import { generate } from "./bindings.ts";

const modelOf = (body: string): Promise<WitModel> => readWit(`package a:b;\n${body}`);

const golden = (name: string): string => `./golden/assembly/generated/${name}`;

describe("X-11: golden files", () => {
  const abi = readAbi(currentAbi);
  const bindings = abi === null ? null : bindingsOf(abi);
  test.each([...(bindings?.files ?? [])])("plexus/abi/%s equals the generator's output", async (name, text) => {
    await expect(text).toMatchFileSnapshot(`../assembly/abi/${name}`);
  });

  test("the entry of a delegate equals the golden file", async () => {
    await expect(bindings?.entry.text).toMatchFileSnapshot(golden("delegate-entry.ts"));
    expect(bindings?.entry.exportNames.get("plugin_add")).toBe("cni:delegate/plugin@1.0.0#add");
    expect(bindings?.entry.exportNames.get("plugin_add_post")).toBe("cabi_post_cni:delegate/plugin@1.0.0#add");
    expect(bindings?.entry.exportNames.get("cabi_realloc")).toBe("cabi_realloc");
  });

  test("the bindings of the hard cases equal the golden files", async () => {
    const wit = await readFile(new URL("../testing/nasty.wit", import.meta.url), "utf8");
    const { files, entry } = echoBindings(await readWit(wit), "nasty", wit);
    for (const [name, text] of files) await expect(text).toMatchFileSnapshot(golden(`nasty/${name}`));
    await expect(entry.text).toMatchFileSnapshot(golden("nasty/entry.ts"));
  });
});

describe("unsupported features", () => {
  test.each([
    ["resources", "interface i { resource r; f: func(v: borrow<r>); } world w { import i; }", /resource r/],
    ["streams", "interface i { f: func() -> stream<u8>; } world w { import i; }", /0x66/],
    ["futures", "interface i { f: func() -> future<u8>; } world w { import i; }", /0x65/],
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
