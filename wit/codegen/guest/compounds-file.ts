// The classes of results with two payloads and of tuples, which have no names in WIT.

import type { TypeRef } from "../../model.ts";
import { ForeignNames } from "./foreign-names.ts";
import type { GuestTypes } from "./guest-types.ts";
import { zero } from "./interface-file.ts";
import { banner, Source } from "./source.ts";

/** Generates `compounds.ts` with the compounds that the other files use. Call it last. */
export function compoundsFile(types: GuestTypes): string {
  const out = new Source();
  const names = new ForeignNames(types, ".");
  const { named } = names;
  const done = new Set<string>();
  // Generating one compound may use another.
  for (let left = types.compounds(); left.length > 0; left = types.compounds().filter((c) => !done.has(c.name))) {
    for (const { name, type } of left) {
      if (done.has(name)) continue;
      done.add(name);
      out.line();
      const shape = types.layout.shape(type);
      if (shape.kind === "tuple")
        tuple(
          out,
          name,
          shape.items.map((t) => types.type(t, named)),
        );
      else if (shape.kind === "result" && shape.ok !== null && shape.err !== null)
        result(out, name, shape.ok, shape.err, types, named);
    }
  }
  const body = out.toString();
  const imports = names.lines(body);
  return `${banner}${imports.length > 0 ? `\n${imports.join("\n")}\n` : ""}${body}`;
}

function tuple(out: Source, name: string, items: readonly string[]): void {
  out.block(`export class ${name}`, () => {
    for (const [i, type] of items.entries()) out.line(`f${i}: ${type};`);
    if (items.length === 0) return;
    out.line();
    out.block(`constructor(${items.map((type, i) => `f${i}: ${type}`).join(", ")})`, () => {
      for (const i of items.keys()) out.line(`this.f${i} = f${i};`);
    });
  });
}

function result(
  out: Source,
  name: string,
  okType: TypeRef,
  errType: TypeRef,
  types: GuestTypes,
  named: (ref: string) => string,
): void {
  const sides = [
    { type: okType, field: "_value", getter: "value", make: "ok", test: "this.isOk", message: "the result is an error" },
    { type: errType, field: "_error", getter: "error", make: "err", test: "!this.isOk", message: "the result is not an error" },
  ];
  out.block(`export class ${name}`, () => {
    out.line("readonly isOk: bool;");
    for (const side of sides) {
      const type = types.type(side.type, named);
      if (types.isReference(side.type)) out.line(`private ${side.field}: ${type} | null = null;`);
      else out.line(`private ${side.field}: ${type} = ${types.nullablePayload(side.type) === null ? zero(type) : "null"};`);
    }
    out.line();
    out.block("private constructor(isOk: bool)", () => out.line("this.isOk = isOk;"));
    for (const side of sides) {
      const type = types.type(side.type, named);
      out.line();
      out.block(`static ${side.make}(value: ${type}): ${name}`, () => {
        out.line(`const made = new ${name}(${side.make === "ok"});`);
        out.line(`made.${side.field} = value;`);
        out.line("return made;");
      });
      out.block(`get ${side.getter}(): ${type}`, () => {
        out.line(`assert(${side.test}, "${side.message}");`);
        out.line(types.isReference(side.type) ? `return this.${side.field} as ${type};` : `return this.${side.field};`);
      });
    }
  });
}
