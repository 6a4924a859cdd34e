// The calls out of the guest: one raw import and one typed function for each function of an imported interface.

import type { TypeRef, WitFunction, WitModel } from "../../model.ts";
import { FlatCodec, type Slot } from "./flat-codec.ts";
import { qualified, type GuestTypes } from "./guest-types.ts";
import { maxFlatParams, maxFlatResults } from "../layout.ts";
import type { MemoryCodec } from "./memory-codec.ts";
import { camel, fileName, pascal, prefix } from "./names.ts";
import { banner, Source } from "./source.ts";

/** The name under which a component imports or exports an interface. */
export function interfaceId(model: WitModel, iface: string): string {
  if (iface.includes("/")) return iface;
  return `${model.package}/${iface}${model.version === "" ? "" : `@${model.version}`}`;
}

/** Spells types in a file other than the interface's own, and records the necessary imports. */
export class ForeignNames {
  readonly #types: GuestTypes;
  readonly #bindings: string;
  readonly #named = new Map<string, string>();
  readonly #compounds = new Set<string>();

  constructor(types: GuestTypes, bindings: string) {
    this.#types = types;
    this.#bindings = bindings;
  }

  show = (type: TypeRef): string => {
    for (const name of this.#types.compoundsIn(type)) this.#compounds.add(name);
    return this.#types.type(type, (ref) => {
      this.#named.set(ref, fileName(ref.slice(0, ref.lastIndexOf("."))));
      return qualified(ref);
    });
  };

  lines(some: boolean): string[] {
    const lines = some ? ['import { Some } from "plexus/some";'] : [];
    if (this.#compounds.size > 0) {
      lines.push(`import { ${[...this.#compounds].sort().join(", ")} } from "${this.#bindings}/compounds";`);
    }
    for (const [ref, file] of this.#named) {
      lines.push(
        `import { ${pascal(ref.slice(ref.lastIndexOf(".") + 1))} as ${qualified(ref)} } from "${this.#bindings}/${file}";`,
      );
    }
    return lines;
  }
}

/** Generates `calls.ts`, which the functions of the interface files call. */
export function callsFile(model: WitModel, imports: readonly string[], types: GuestTypes, codec: MemoryCodec): string {
  const out = new Source();
  const names = new ForeignNames(types, ".");
  for (const iface of imports) {
    for (const [name, fn] of Object.entries(model.interfaces[iface]?.functions ?? {})) {
      call(out, interfaceId(model, iface), `${prefix(iface)}_${camel(name)}`, name, fn, types, codec, names);
    }
  }
  const body = out.toString();
  const head = [
    'import * as _memory from "plexus/memory";',
    'import * as _codec from "./codec";',
    ...names.lines(/\bSome</.test(body)),
  ];
  return `${banner}\n${head.join("\n")}\n${body}`;
}

function call(
  out: Source,
  module: string,
  functionName: string,
  name: string,
  fn: WitFunction,
  types: GuestTypes,
  codec: MemoryCodec,
  names: ForeignNames,
): void {
  const { layout } = types;
  const flatParams = fn.params.flatMap(([, t]) => layout.flatten(t));
  const spilled = flatParams.length > maxFlatParams;
  const slots: Slot[] = spilled ? [] : flatParams.map((core, i) => ({ name: `_p${i}`, core }));
  const flatResult = fn.result === null ? [] : layout.flatten(fn.result);
  const byArea = flatResult.length > maxFlatResults;
  const direct = byArea ? undefined : flatResult[0];
  const core = [...(spilled ? ["_params: i32"] : slots.map((s) => `${s.name}: ${s.core}`)), ...(byArea ? ["_area: i32"] : [])];
  out.line();
  out.line("// @ts-ignore: decorator");
  out.line(`@external("${module}", "${name}")`);
  out.line(`declare function _core_${functionName}(${core.join(", ")}): ${direct ?? "void"};`);
  out.line();
  const params = fn.params.map(([param, type]) => `${camel(param)}: ${names.show(type)}`).join(", ");
  const result = fn.result;
  out.block(`export function ${functionName}(${params}): ${result === null ? "void" : names.show(result)}`, () => {
    const flat = new FlatCodec(types, codec, names.show);
    out.line("const _mark = _memory.mark();");
    const args: string[] = slots.map((s) => s.name);
    if (spilled) {
      const tuple: TypeRef = { tuple: fn.params.map(([, t]) => t) };
      const { at } = layout.offsets(fn.params.map(([, t]) => t));
      out.line(`const _params = _memory.allocate(${layout.size(tuple)}, ${layout.alignment(tuple)});`);
      for (const [i, [param, type]] of fn.params.entries()) {
        out.line(`_codec.store_${codec.use(type)}(_params + ${at[i] ?? 0}, ${camel(param)});`);
      }
      args.push("<i32>_params");
    } else {
      for (const slot of slots) out.line(`let ${slot.name}: ${slot.core} = 0;`);
      let at = 0;
      for (const [param, type] of fn.params) {
        const width = layout.flatten(type).length;
        flat.lower(out, type, camel(param), slots.slice(at, at + width));
        at += width;
      }
    }
    if (byArea && result !== null) {
      out.line(`const _area = _memory.allocate(${layout.size(result)}, ${layout.alignment(result)});`);
      args.push("<i32>_area");
    }
    const raw = `_core_${functionName}(${args.join(", ")})`;
    if (result === null) out.line(`${raw};`);
    else if (byArea) {
      out.line(`${raw};`);
      out.line(`const _result = _codec.load_${codec.use(result)}(_area);`);
    } else {
      out.line(`const _r = ${raw};`);
      const lifted = flat.lift(out, result, direct === undefined ? [] : [{ name: "_r", core: direct }]);
      out.line(`const _result: ${names.show(result)} = ${lifted};`);
    }
    out.line("_memory.release(_mark);");
    if (result !== null) out.line("return _result;");
  });
}
