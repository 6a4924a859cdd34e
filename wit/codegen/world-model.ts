// Decodes the `component-type` custom section that wit-component puts into a core module: the full, typed WIT of
// one world as a component type. Grammar: component-model design/mvp/Binary.md, "Type Definitions".

import type { Primitive, TypeDef, TypeRef, WitFunction, WitInterface, WitModel } from "../model.ts";
import { ByteReader, sections } from "../binary/sections.ts";

const primitives: Readonly<Record<number, Primitive>> = {
  0x7f: "bool",
  0x7e: "s8",
  0x7d: "u8",
  0x7c: "s16",
  0x7b: "u16",
  0x7a: "s32",
  0x79: "u32",
  0x78: "s64",
  0x77: "u64",
  0x76: "f32",
  0x75: "f64",
  0x74: "char",
  0x73: "string",
};

/** The meaning of a type index during decoding. */
type Entry =
  | { readonly kind: "value"; readonly type: TypeRef | Definition }
  | { readonly kind: "function"; readonly fn: WitFunction }
  | { readonly kind: "instance"; readonly iface: WitInterface }
  | { readonly kind: "component"; readonly world: World };

/** A record, enum, variant or flags, which gets its name from an export. */
interface Definition {
  readonly define: TypeDef;
}

interface World {
  readonly interfaces: Map<string, WitInterface>;
  readonly imports: string[];
  readonly exports: string[];
  readonly ids: string[];
}

interface Scope {
  readonly outer: Scope | null;
  readonly types: Entry[];
  /** Full interface names by instance index. */
  readonly instances: string[];
}

const refuse = (what: string): never => {
  throw new Error(`WIT not supported here: ${what}`);
};

const value = (type: TypeRef | Definition): Entry => ({ kind: "value", type });

function asRef(entry: Entry | undefined, what: string): TypeRef {
  if (entry?.kind !== "value") return refuse(`${what} is no value type`);
  const type = entry.type;
  return typeof type === "object" && "define" in type ? refuse(`${what} is a nameless definition`) : type;
}

class Decoder {
  readonly #in: ByteReader;

  constructor(reader: ByteReader) {
    this.#in = reader;
  }

  #entry(scope: Scope, index: number): Entry {
    return scope.types[index] ?? refuse(`type index ${index} does not exist`);
  }

  /** valtype: a primitive's byte or a type index. */
  #value(scope: Scope): TypeRef {
    const primitive = primitives[this.#in.peek() ?? -1];
    if (primitive !== undefined) {
      this.#in.byte();
      return primitive;
    }
    const index = this.#in.u32();
    return asRef(this.#entry(scope, index), `type ${index}`);
  }

  #optional(scope: Scope): TypeRef | null {
    return this.#in.byte() === 0 ? null : this.#value(scope);
  }

  #define(scope: Scope): Entry {
    const reader = this.#in;
    const opcode = reader.byte();
    const primitive = primitives[opcode];
    if (primitive !== undefined) return { kind: "value", type: primitive };
    switch (opcode) {
      case 0x72:
        return value({ define: { record: reader.vector(() => [reader.name(), this.#value(scope)] as const) } });
      case 0x71:
        return value({
          define: {
            variant: reader.vector(() => {
              const name = reader.name();
              const payload = this.#optional(scope);
              if (reader.byte() !== 0) refuse("a variant case that refines another");
              return [name, payload] as const;
            }),
          },
        });
      case 0x70:
        return value({ list: this.#value(scope) });
      case 0x6f:
        return value({ tuple: reader.vector(() => this.#value(scope)) });
      case 0x6e:
        return value({ define: { flags: reader.vector(() => reader.name()) } });
      case 0x6d:
        return value({ define: { enum: reader.vector(() => reader.name()) } });
      case 0x6b:
        return value({ option: this.#value(scope) });
      case 0x6a:
        return value({ result: { ok: this.#optional(scope), err: this.#optional(scope) } });
      case 0x40: {
        const params = reader.vector(() => [reader.name(), this.#value(scope)] as const);
        if (reader.byte() === 0) return { kind: "function", fn: { params, result: this.#value(scope) } };
        if (reader.byte() !== 0) refuse("named results");
        return { kind: "function", fn: { params, result: null } };
      }
      case 0x41:
        return { kind: "component", world: this.#component(scope) };
      case 0x42:
        return refuse("an interface without a name");
      default:
        return refuse(`type 0x${opcode.toString(16)} (resource, stream, future or async)`);
    }
  }

  /** Reads an alias declaration and appends its target. */
  #alias(scope: Scope, shared: ReadonlyMap<string, WitInterface>): void {
    const reader = this.#in;
    if (reader.byte() !== 3) refuse("an alias of something other than a type");
    const target = reader.byte();
    if (target === 0) {
      const id = scope.instances[reader.u32()] ?? refuse("an alias of an unknown instance");
      const name = reader.name();
      if (shared.get(id)?.types[name] === undefined) refuse(`${id} has no type ${name}`);
      scope.types.push({ kind: "value", type: { ref: `${id}\0${name}` } });
    } else if (target === 2) {
      let from: Scope = scope;
      for (let up = reader.u32(); up > 0; up -= 1) from = from.outer ?? refuse("an alias beyond the outermost type");
      scope.types.push(this.#entry(from, reader.u32()));
    } else refuse(`alias target ${target}`);
  }

  /** instancetype: an interface. Type names are resolved to `id\0name` until the package is known. */
  #instance(outer: Scope): { finish(id: string): WitInterface } {
    const reader = this.#in;
    const start = reader.at;
    const run = (id: string): WitInterface => {
      reader.at = start;
      const scope: Scope = { outer, types: [], instances: [] };
      const types: Record<string, TypeDef> = {};
      const functions: Record<string, WitFunction> = {};
      for (let left = reader.u32(); left > 0; left -= 1) {
        const declaration = reader.byte();
        if (declaration === 1) scope.types.push(this.#define(scope));
        else if (declaration === 2) this.#alias(scope, new Map());
        else if (declaration === 4) {
          if (reader.byte() !== 0) refuse("an export name with options");
          const name = reader.name();
          const sort = reader.byte();
          if (sort === 1) {
            const entry = this.#entry(scope, reader.u32());
            if (entry.kind !== "function") refuse(`${name} is no function`);
            else functions[name] = entry.fn;
          } else if (sort === 3) {
            if (reader.byte() !== 0) refuse(`resource ${name}`);
            const entry = this.#entry(scope, reader.u32());
            if (entry.kind !== "value") return refuse(`${name} is no value type`);
            const type = entry.type;
            types[name] = typeof type === "object" && "define" in type ? type.define : { alias: type };
            // A `use` still refers to its origin; every other type now belongs to this interface.
            const used = typeof type === "object" && "ref" in type && !type.ref.startsWith(`${id}\0`);
            scope.types.push({ kind: "value", type: used ? type : { ref: `${id}\0${name}` } });
          } else refuse(`export of sort ${sort} in an interface`);
        } else refuse(`declaration ${declaration} in an interface`);
      }
      return { types, functions };
    };
    run("");
    const end = reader.at;
    return {
      finish: (id) => {
        const back = reader.at;
        const iface = run(id);
        if (reader.at !== end) refuse("an interface that reads differently twice");
        reader.at = back;
        return iface;
      },
    };
  }

  #component(outer: Scope | null): World {
    const reader = this.#in;
    const scope: Scope = { outer, types: [], instances: [] };
    const world: World = { interfaces: new Map(), imports: [], exports: [], ids: [] };
    const pending = new Map<number, { finish(id: string): WitInterface }>();
    for (let left = reader.u32(); left > 0; left -= 1) {
      const declaration = reader.byte();
      if (declaration === 1) {
        if (reader.peek() === 0x42) {
          reader.byte();
          pending.set(scope.types.length, this.#instance(scope));
          scope.types.push({ kind: "instance", iface: { types: {}, functions: {} } });
        } else scope.types.push(this.#define(scope));
      } else if (declaration === 2) this.#alias(scope, world.interfaces);
      else if (declaration === 3 || declaration === 4) {
        if (reader.byte() !== 0) refuse("a name with options");
        const id = reader.name();
        const sort = reader.byte();
        const index = sort === 3 ? refuse(`type ${id} in a world`) : reader.u32();
        if (sort === 4) {
          const entry = this.#entry(scope, index);
          if (entry.kind !== "component") return refuse(`${id} is no world`);
          world.ids.push(id);
          for (const [key, iface] of entry.world.interfaces) world.interfaces.set(key, iface);
          world.imports.push(...entry.world.imports);
          world.exports.push(...entry.world.exports);
        } else if (sort === 5) {
          const instance = pending.get(index) ?? refuse(`${id} is no interface`);
          const iface = instance.finish(id);
          if (!id.includes("/")) refuse(`interface ${id} written inside a world; give it a name of its own`);
          world.interfaces.set(id, iface);
          if (declaration === 3) scope.instances.push(id);
          (declaration === 3 ? world.imports : world.exports).push(id);
        } else refuse(`${id}: a function of the world itself; put it into an interface`);
      } else refuse(`declaration ${declaration} in a world`);
    }
    return world;
  }

  world(): World {
    return this.#component(null);
  }
}

/** Replaces every `id\0name` by its final form, with short names for the package's own interfaces. */
function resolve<T extends TypeRef | null>(type: T, key: (id: string) => string): T;
function resolve(type: TypeRef | null, key: (id: string) => string): TypeRef | null {
  if (type === null || typeof type === "string") return type;
  if ("ref" in type) {
    const [id = "", name = ""] = type.ref.split("\0");
    return { ref: `${key(id)}.${name}` };
  }
  if ("list" in type) return { list: resolve(type.list, key) };
  if ("option" in type) return { option: resolve(type.option, key) };
  if ("tuple" in type) return { tuple: type.tuple.map((t) => resolve(t, key)) };
  return { result: { ok: resolve(type.result.ok, key), err: resolve(type.result.err, key) } };
}

function resolveDefinition(def: TypeDef, key: (id: string) => string): TypeDef {
  if ("record" in def) return { record: def.record.map(([name, type]) => [name, resolve(type, key)] as const) };
  if ("variant" in def) return { variant: def.variant.map(([name, type]) => [name, resolve(type, key)] as const) };
  return "alias" in def ? { alias: resolve(def.alias, key) } : def;
}

const splitId = (id: string): { pkg: string; name: string; version: string } => {
  const found = /^([^/@]+)\/([^@]+)(?:@(.+))?$/.exec(id);
  return { pkg: found?.[1] ?? "", name: found?.[2] ?? id, version: found?.[3] ?? "" };
};

/**
 * Decodes the world in a core module made by componentEmbed (with or without `dummy`). Throws an Error that names WIT features
 * that the model does not support: resources, streams, async, world-level functions.
 */
export function decodeComponentType(coreModule: Uint8Array): WitModel {
  const custom = sections(coreModule).find((s) => s.id === 0 && s.name.startsWith("component-type"));
  if (custom === undefined) return refuse("a module without a component-type section");
  const type = sections(custom.body).find((s) => s.id === 7);
  if (type === undefined) return refuse("a component-type section without types");
  const reader = new ByteReader(type.body);
  if (reader.u32() !== 1 || reader.byte() !== 0x41) refuse("a component-type section of another layout");
  const world = new Decoder(reader).world();
  const id = world.ids[0] ?? refuse("a component-type section without a world");
  const { pkg, name: worldName, version } = splitId(id);
  const key = (other: string): string => {
    const parts = splitId(other);
    return parts.pkg === pkg && parts.version === version ? parts.name : other;
  };
  const interfaces: Record<string, WitInterface> = {};
  for (const [full, iface] of world.interfaces) {
    interfaces[key(full)] = {
      types: Object.fromEntries(Object.entries(iface.types).map(([n, def]) => [n, resolveDefinition(def, key)])),
      functions: Object.fromEntries(
        Object.entries(iface.functions).map(([n, fn]) => [
          n,
          { params: fn.params.map(([p, t]) => [p, resolve(t, key)] as const), result: resolve(fn.result, key) },
        ]),
      ),
    };
  }
  return {
    package: pkg,
    version,
    interfaces,
    worlds: { [worldName]: { imports: world.imports.map(key), exports: world.exports.map(key) } },
  };
}
