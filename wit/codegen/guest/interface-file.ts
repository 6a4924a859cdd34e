// The file of one interface, which authors import: its types as classes and enums, and its functions.

import type { TypeDef, TypeRef, WitInterface } from "../../model.ts";
import { pascal } from "../names.ts";
import { ForeignNames } from "./foreign-names.ts";
import type { GuestTypes } from "./guest-types.ts";
import { fileName, guestName, guestType, localType, ownerOf, prefix } from "./names.ts";
import { banner, Source } from "./source.ts";

export interface InterfaceFileInit {
  readonly iface: string;
  readonly definition: WitInterface;
  readonly types: GuestTypes;
  readonly docs: ReadonlyMap<string, string>;
  /** Whether the world imports the interface, so that its functions can be called. */
  readonly callable: boolean;
}

/** Generates the file of one interface. */
export function interfaceFile({ iface, definition, types, docs, callable }: InterfaceFileInit): string {
  const out = new Source();
  const names = new ForeignNames(types, ".", iface);
  const { show } = names;
  const reexports: string[] = [];
  for (const [name, def] of Object.entries(definition.types)) {
    const doc = docs.get(`${iface}.${name}`);
    if ("alias" in def) {
      const used = typeof def.alias === "object" && "ref" in def.alias ? def.alias.ref : null;
      if (used !== null && !used.startsWith(`${iface}.`)) reexports.push(reexport(name, used));
      else {
        out.line();
        out.doc(doc);
        out.line(`export type ${guestType(name)} = ${show(def.alias)};`);
      }
      continue;
    }
    out.line();
    out.doc(doc);
    declaration(out, name, def, types, show, (part) => docs.get(`${iface}.${name}.${part}`));
  }
  if (callable) {
    for (const [name, fn] of Object.entries(definition.functions)) {
      out.line();
      out.doc(docs.get(`${iface}.${name}`));
      const params = fn.params.map(([param, type]) => `${guestName(param)}: ${show(type)}`).join(", ");
      const result = fn.result === null ? "void" : show(fn.result);
      const call = `_calls.${prefix(iface)}_${guestName(name)}(${fn.params.map(([param]) => guestName(param)).join(", ")});`;
      out.block(`export function ${guestName(name)}(${params}): ${result}`, () =>
        out.line(fn.result === null ? call : `return ${call}`),
      );
    }
  } else contract(out, definition, types);
  const used = new Set(
    Object.values(definition.functions).flatMap((fn) =>
      [...fn.params.map(([, type]) => type), ...(fn.result === null ? [] : [fn.result])].flatMap((type) =>
        types.compoundsIn(type),
      ),
    ),
  );
  if (used.size > 0) reexports.push(`export { ${[...used].sort().join(", ")} } from "./compounds";`);
  const body = out.toString();
  const calls = callable && Object.keys(definition.functions).length > 0 ? ['import * as _calls from "./calls";'] : [];
  const extras = [...calls, ...names.lines(body), ...reexports];
  const head = docs.has(iface) ? `${banner}\n${(docs.get(iface) ?? "").replace(/^/gm, "// ")}\n` : banner;
  return `${head}${extras.length > 0 ? `\n${extras.join("\n")}\n` : ""}${body}`;
}

/** A comment with the functions that the author of an exporting guest has to write. */
function contract(out: Source, definition: WitInterface, types: GuestTypes): void {
  const functions = Object.entries(definition.functions);
  if (functions.length === 0) return;
  out.line();
  out.line("// A guest that exports this interface exports these functions:");
  for (const [name, fn] of functions) {
    const params = fn.params.map(([param, type]) => `${guestName(param)}: ${types.type(type, localType)}`).join(", ");
    out.line(`//   function ${guestName(name)}(${params}): ${fn.result === null ? "void" : types.type(fn.result, localType)}`);
  }
}

function reexport(name: string, ref: string): string {
  const originalName = localType(ref);
  const localName = guestType(name);
  return `export { ${originalName === localName ? localName : `${originalName} as ${localName}`} } from "./${fileName(ownerOf(ref))}";`;
}

function declaration(
  out: Source,
  name: string,
  def: Exclude<TypeDef, { alias: TypeRef }>,
  types: GuestTypes,
  show: (type: TypeRef) => string,
  memberDoc: (part: string) => string | undefined,
): void {
  const className = guestType(name);
  if ("record" in def) {
    out.block(`export class ${className}`, () => {
      const required = def.record.filter(([, type]) => initial(type, types, show) === null);
      for (const [field, type] of def.record) {
        out.doc(memberDoc(field));
        const first = initial(type, types, show);
        out.line(`${guestName(field)}: ${show(type)}${first === null ? "" : ` = ${first}`};`);
      }
      if (required.length === 0) return;
      out.line();
      out.block(`constructor(${required.map(([field, type]) => `${guestName(field)}: ${show(type)}`).join(", ")})`, () => {
        for (const [field] of required) out.line(`this.${guestName(field)} = ${guestName(field)};`);
      });
    });
  } else if ("enum" in def || "flags" in def) {
    const members = "enum" in def ? def.enum : def.flags;
    out.block(`export enum ${className}`, () => {
      for (const [i, part] of members.entries()) {
        out.doc(memberDoc(part));
        out.line(`${pascal(part)} = ${"enum" in def ? i : `1 << ${i}`},`);
      }
    });
  } else variant(out, className, def.variant, types, show, memberDoc);
}

/** A variant is built by `V.aCase(payload)` and taken apart by `v.kind`, `v.isACase` and `v.asACase`. */
function variant(
  out: Source,
  className: string,
  cases: readonly (readonly [string, TypeRef | null])[],
  types: GuestTypes,
  show: (type: TypeRef) => string,
  memberDoc: (part: string) => string | undefined,
): void {
  out.block(`export class ${className}`, () => {
    out.line("/** The case, counted from 0 in the order of the WIT. */");
    out.line("readonly kind: i32;");
    for (const [i, [, payload]] of cases.entries()) {
      if (payload === null) continue;
      const type = show(payload);
      if (types.isReference(payload)) out.line(`private _${i}: ${type} | null = null;`);
      else out.line(`private _${i}: ${type} = ${types.nullablePayload(payload) === null ? zero(type) : "null"};`);
    }
    out.line();
    out.block("private constructor(kind: i32)", () => out.line("this.kind = kind;"));
    for (const [i, [name, payload]] of cases.entries()) {
      out.line();
      out.doc(memberDoc(name));
      out.block(`static ${guestName(name)}(${payload === null ? "" : `value: ${show(payload)}`}): ${className}`, () => {
        if (payload === null) return out.line(`return new ${className}(${i});`);
        out.line(`const made = new ${className}(${i});`);
        out.line(`made._${i} = value;`);
        out.line("return made;");
      });
      out.block(`get is${pascal(name)}(): bool`, () => out.line(`return this.kind == ${i};`));
      if (payload === null) continue;
      out.block(`get as${pascal(name)}(): ${show(payload)}`, () => {
        out.line(`assert(this.kind == ${i}, "the variant has another case");`);
        out.line(types.isReference(payload) ? `return this._${i} as ${show(payload)};` : `return this._${i};`);
      });
    }
  });
}

/** The initial value of a type without payload class. */
export function zero(primitive: string): string {
  return primitive === "bool" ? "false" : "0";
}

/** A field's initial value, so that a constructor needs only the other fields: null for options, empty for lists. Null: none. */
function initial(type: TypeRef, types: GuestTypes, show: (type: TypeRef) => string): string | null {
  if (types.nullablePayload(type) !== null) return types.layout.shape(type).kind === "option" ? "null" : null;
  return types.layout.shape(type).kind === "list" ? `new ${show(type)}()` : null;
}
