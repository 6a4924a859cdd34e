import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { WitModel } from "../../model.ts";
import { generateGlue } from "./glue.ts";
import { Layout } from "../layout.ts";

const model: WitModel = JSON.parse(readFileSync(new URL("../../1.0.0/generated/model.json", import.meta.url), "utf8"));

const of = (ref: string) => {
  const layout = new Layout(model);
  return [layout.size({ ref }), layout.alignment({ ref }), layout.flatten({ ref }).length];
};

const wrong = (result: object): WitModel => ({
  ...model,
  interfaces: { ...model.interfaces, log: { types: {}, functions: { write: { params: [["at", "s64"]], result: null } } } },
  ...result,
});

describe("the generated glue", () => {
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
    expect(() => generateGlue(wrong({}))).toThrow("s64 is not supported");
    expect(() => generateGlue(wrong({ worlds: {} }))).toThrow("no world delegate");
  });
});
