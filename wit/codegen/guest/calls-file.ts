// The calls out of the guest: one raw import and one typed function for each function of an imported interface.

import type { TypeRef, WitFunction, WitModel } from "../../model.ts";
import { interfaceId } from "../shapes.ts";
import { FlatCodec } from "./flat-codec.ts";
import { ForeignNames } from "./foreign-names.ts";
import type { GuestTypes } from "./guest-types.ts";
import type { MemoryCodec } from "./memory-codec.ts";
import { guestName, prefix } from "./names.ts";
import type { Slot } from "./slots.ts";
import { banner, Source } from "./source.ts";

/** Generates `calls.ts`, which the functions of the interface files call. */
export function callsFile(model: WitModel, imports: readonly string[], types: GuestTypes, codec: MemoryCodec): string {
  const out = new Source();
  const names = new ForeignNames(types, ".");
  for (const iface of imports) {
    for (const [name, fn] of Object.entries(model.interfaces[iface]?.functions ?? {})) {
      const external = `@external("${interfaceId(model, iface)}", "${name}")`;
      call({ out, types, codec, names }, external, `${prefix(iface)}_${guestName(name)}`, fn);
    }
  }
  const body = out.toString();
  const head = ['import * as _memory from "plexus/memory";', 'import * as _codec from "./codec";', ...names.lines(body)];
  return `${banner}\n${head.join("\n")}\n${body}`;
}

interface CallsFile {
  readonly out: Source;
  readonly types: GuestTypes;
  readonly codec: MemoryCodec;
  readonly names: ForeignNames;
}

function call({ out, types, codec, names }: CallsFile, external: string, functionName: string, fn: WitFunction): void {
  const { layout } = types;
  const { result } = fn;
  const paramTypes = fn.params.map(([, type]) => type);
  const { params: flatParams, spilled, byArea, direct } = layout.signature(fn);
  const slots: Slot[] = spilled ? [] : flatParams.map((core, i) => ({ name: `_p${i}`, core }));
  const core = [...(spilled ? ["_params: i32"] : slots.map((s) => `${s.name}: ${s.core}`)), ...(byArea ? ["_area: i32"] : [])];
  out.line();
  out.line("// @ts-ignore: decorator");
  out.line(external);
  out.line(`declare function _core_${functionName}(${core.join(", ")}): ${direct ?? "void"};`);
  out.line();
  const params = fn.params.map(([param, type]) => `${guestName(param)}: ${names.show(type)}`).join(", ");
  out.block(`export function ${functionName}(${params}): ${result === null ? "void" : names.show(result)}`, () => {
    const flat = new FlatCodec(types, codec, names.show);
    out.line("const _mark = _memory.mark();");
    const args: string[] = slots.map((s) => s.name);
    if (spilled) {
      const tuple: TypeRef = { tuple: paramTypes };
      const { at } = layout.offsets(paramTypes);
      out.line(`const _params = _memory.allocate(${layout.size(tuple)}, ${layout.alignment(tuple)});`);
      for (const [i, [param, type]] of fn.params.entries()) {
        out.line(`_codec.store_${codec.use(type)}(_params + ${at[i] ?? 0}, ${guestName(param)});`);
      }
      args.push("<i32>_params");
    } else {
      for (const slot of slots) out.line(`let ${slot.name}: ${slot.core} = 0;`);
      for (const [i, [type, own]] of layout.divide(paramTypes, slots).entries())
        flat.lower(out, type, guestName(fn.params[i]?.[0] ?? ""), own);
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
