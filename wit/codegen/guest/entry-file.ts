// The compiler's entry: the world's exports as core functions around the author's functions.

import type { WitFunction, WitModel } from "../../model.ts";
import { interfaceId } from "../shapes.ts";
import { FlatCodec } from "./flat-codec.ts";
import { ForeignNames } from "./foreign-names.ts";
import type { GuestTypes } from "./guest-types.ts";
import type { MemoryCodec } from "./memory-codec.ts";
import { guestName, prefix } from "./names.ts";
import type { Slot } from "./slots.ts";
import { banner, Source } from "./source.ts";

export interface EntryInit {
  readonly model: WitModel;
  readonly exports: readonly string[];
  /** Import path of the author's functions of an exported interface. */
  readonly implementation: (iface: string) => string;
  /** Import path of the generated files, e.g. `plexus/abi`. */
  readonly bindings: string;
}

/** The entry's text, and the component model's name of each of its exports. */
export interface Entry {
  readonly text: string;
  readonly exportNames: ReadonlyMap<string, string>;
}

/** Generates the entry of a delegate. */
export function entryFile({ model, exports, implementation, bindings }: EntryInit, types: GuestTypes, codec: MemoryCodec): Entry {
  const out = new Source();
  const names = new ForeignNames(types, bindings);
  const exportNames = new Map<string, string>([["cabi_realloc", "cabi_realloc"]]);
  for (const iface of exports) {
    for (const [name, fn] of Object.entries(model.interfaces[iface]?.functions ?? {})) {
      const exportName = `${prefix(iface)}_${guestName(name)}`;
      const core = `${interfaceId(model, iface)}#${name}`;
      exportNames.set(exportName, core);
      exportNames.set(`${exportName}_post`, `cabi_post_${core}`);
      exported({ out, types, codec, names }, exportName, `_${prefix(iface)}.${guestName(name)}`, fn);
    }
  }
  const body = out.toString();
  const head = [
    'import * as _memory from "plexus/memory";',
    `import * as _codec from "${bindings}/codec";`,
    ...exports.map((iface) => `import * as _${prefix(iface)} from "${implementation(iface)}";`),
    ...names.lines(body),
    'export { cabi_realloc } from "plexus/memory";',
  ];
  return { text: `${banner}\n${head.join("\n")}\n${body}`, exportNames };
}

interface EntryFile {
  readonly out: Source;
  readonly types: GuestTypes;
  readonly codec: MemoryCodec;
  readonly names: ForeignNames;
}

/** An export and its post-return function, which ends the call for the guest. */
function exported({ out, types, codec, names }: EntryFile, exportName: string, implementation: string, fn: WitFunction): void {
  const { layout } = types;
  const { result } = fn;
  const paramTypes = fn.params.map(([, type]) => type);
  const { params: cores, spilled, byArea, direct: value } = layout.signature(fn);
  const flat = new FlatCodec(types, codec, names.show);
  const slots: Slot[] = cores.map((core, i) => ({ name: `_p${i}`, core }));
  const direct = byArea ? "i32" : value;
  const params = spilled ? "_params: i32" : slots.map((s) => `${s.name}: ${s.core}`).join(", ");
  out.line();
  out.block(`export function ${exportName}(${params}): ${direct ?? "void"}`, () => {
    if (spilled) {
      const { at } = layout.offsets(paramTypes);
      for (const [i, type] of paramTypes.entries())
        out.line(`const _a${i} = _codec.load_${codec.use(type)}(_params + ${at[i] ?? 0});`);
    } else {
      for (const [i, [type, own]] of layout.divide(paramTypes, slots).entries()) {
        const lifted = flat.lift(out, type, own);
        out.line(`const _a${i}: ${names.show(type)} = ${lifted};`);
      }
    }
    out.line("_memory.reset();");
    const call = `${implementation}(${paramTypes.map((_, i) => `_a${i}`).join(", ")})`;
    if (result === null) return out.line(`${call};`);
    out.line(`const _result: ${names.show(result)} = ${call};`);
    if (byArea) {
      out.line(`const _area = _memory.allocate(${layout.size(result)}, ${layout.alignment(result)});`);
      out.line(`_codec.store_${codec.use(result)}(_area, _result);`);
      out.line("return <i32>_area;");
    } else if (direct !== undefined) {
      out.line(`let _r: ${direct} = 0;`);
      flat.lower(out, result, "_result", [{ name: "_r", core: direct }]);
      out.line("return _r;");
    }
  });
  out.line();
  out.block(`export function ${exportName}_post(${direct === undefined ? "" : `_r: ${direct}`}): void`, () =>
    out.line("_memory.finish();"),
  );
}
