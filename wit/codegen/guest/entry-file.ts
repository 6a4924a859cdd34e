// The compiler's entry: the world's exports as core functions around the author's functions.

import type { WitFunction, WitModel } from "../../model.ts";
import { ForeignNames, interfaceId } from "./calls-file.ts";
import { FlatCodec, type Slot } from "./flat-codec.ts";
import type { GuestTypes } from "./guest-types.ts";
import { maxFlatParams, maxFlatResults } from "../layout.ts";
import type { MemoryCodec } from "./memory-codec.ts";
import { camel, prefix } from "./names.ts";
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
      const exportName = `${prefix(iface)}_${camel(name)}`;
      const core = `${interfaceId(model, iface)}#${name}`;
      exportNames.set(exportName, core);
      exportNames.set(`${exportName}_post`, `cabi_post_${core}`);
      exported(out, exportName, `_${prefix(iface)}.${camel(name)}`, fn, types, codec, names);
    }
  }
  const body = out.toString();
  const head = [
    'import * as _memory from "plexus/memory";',
    `import * as _codec from "${bindings}/codec";`,
    ...exports.map((iface) => `import * as _${prefix(iface)} from "${implementation(iface)}";`),
    ...names.lines(/\bSome</.test(body)),
    'export { cabi_realloc } from "plexus/memory";',
  ];
  return { text: `${banner}\n${head.join("\n")}\n${body}`, exportNames };
}

/** An export and its post-return function, which ends the call for the guest. */
function exported(
  out: Source,
  exportName: string,
  implementation: string,
  fn: WitFunction,
  types: GuestTypes,
  codec: MemoryCodec,
  names: ForeignNames,
): void {
  const { layout } = types;
  const flat = new FlatCodec(types, codec, names.show);
  const cores = fn.params.flatMap(([, t]) => layout.flatten(t));
  const spilled = cores.length > maxFlatParams;
  const slots: Slot[] = cores.map((core, i) => ({ name: `_p${i}`, core }));
  const result = fn.result;
  const flatResult = result === null ? [] : layout.flatten(result);
  const byArea = flatResult.length > maxFlatResults;
  const direct = byArea ? "i32" : flatResult[0];
  const params = spilled ? "_params: i32" : slots.map((s) => `${s.name}: ${s.core}`).join(", ");
  out.line();
  out.block(`export function ${exportName}(${params}): ${direct ?? "void"}`, () => {
    const args: string[] = [];
    if (spilled) {
      const { at } = layout.offsets(fn.params.map(([, t]) => t));
      for (const [i, [, type]] of fn.params.entries()) {
        out.line(`const _a${i} = _codec.load_${codec.use(type)}(_params + ${at[i] ?? 0});`);
        args.push(`_a${i}`);
      }
    } else {
      let at = 0;
      for (const [i, [, type]] of fn.params.entries()) {
        const width = layout.flatten(type).length;
        const lifted = flat.lift(out, type, slots.slice(at, at + width));
        at += width;
        out.line(`const _a${i}: ${names.show(type)} = ${lifted};`);
        args.push(`_a${i}`);
      }
    }
    out.line("_memory.reset();");
    const call = `${implementation}(${args.join(", ")})`;
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
