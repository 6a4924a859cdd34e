import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { WitModel } from "../../../wit/model.ts";
import { glueFiles } from "./build.ts";
import { generateGlue } from "./generate.ts";
import { layoutOf } from "./layout.ts";

const model: WitModel = JSON.parse(readFileSync(new URL("../../../wit/0.1.0/model.json", import.meta.url), "utf8"));

const of = (ref: string) => {
  const { size, align, flat } = layoutOf(model, { ref });
  return [size, align, flat.length];
};

const wrong = (result: object): WitModel => ({
  ...model,
  interfaces: { ...model.interfaces, log: { types: {}, functions: { write: { params: [["at", "u64"]], result: null } } } },
  ...result,
});

describe("the generated glue", () => {
  it.each(glueFiles())(
    "of $version matches its WIT model: run `node host/sandbox/abi/build.ts` after a change",
    ({ file, text }) => {
      expect(readFileSync(file, "utf8")).toBe(text);
    },
  );

  it("of 1.0.0 has all types and functions of the capabilities of 0.1.0, so that one serves both", () => {
    const next: WitModel = JSON.parse(readFileSync(new URL("../../../wit/1.0.0/model.json", import.meta.url), "utf8"));
    const names = Object.keys(model.interfaces).filter((name) => name !== "types" && name !== "plugin");
    expect(names.length).toBe(9);
    const used = names.map((name) => model.interfaces[name]);
    // Equal, but for what 1.0.0 adds to an interface.
    for (const name of names) {
      const { types: oldTypes, functions } = model.interfaces[name] ?? { types: {}, functions: {} };
      for (const [type, definition] of Object.entries(oldTypes)) expect(next.interfaces[name]?.types[type]).toEqual(definition);
      for (const [call, definition] of Object.entries(functions))
        expect(next.interfaces[name]?.functions[call]).toEqual(definition);
    }
    // And all types of the interface `types` that they use, directly or through another type.
    const types = new Set<string>();
    const visit = (value: unknown): void => {
      for (const [, name = ""] of JSON.stringify(value).matchAll(/"types\.([a-z-]+)"/g)) {
        if (types.has(name)) continue;
        types.add(name);
        visit(model.interfaces["types"]?.types[name]);
      }
    };
    visit(used);
    expect([...types]).toEqual(expect.arrayContaining(["fault", "success", "attachment-id", "dns", "route", "ip-config"]));
    for (const name of types) expect(next.interfaces["types"]?.types[name]).toEqual(model.interfaces["types"]?.types[name]);
  });

  it("has the sizes and alignments that the canonical ABI gives", () => {
    // Calculated by hand from CanonicalABI.md.
    expect(of("types.fault")).toEqual([24, 4, 6]);
    expect(of("types.ip-config")).toEqual([28, 4, 7]);
    expect(of("types.route")).toEqual([60, 4, 15]);
    expect(of("types.dns")).toEqual([36, 4, 9]);
    expect(of("types.success")).toEqual([64, 4, 16]);
    expect(of("leases.pool")).toEqual([16, 4, 4]);
    expect(of("log.level")).toEqual([1, 1, 1]);
  });

  it("is not generated for an unsupported type or a missing world", () => {
    expect(() => generateGlue(wrong({}))).toThrow("u64 is not supported");
    expect(() => generateGlue(wrong({ worlds: {} }))).toThrow("no world delegate");
  });
});
