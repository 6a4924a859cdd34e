// Compares a component's imports and exports with the ABI: names, versions, and the structure of every type.

import { closest } from "../../../src/configuration/closest.ts";
import { abiVersions, type AbiVersion } from "../abi/versions.ts";
import { refuse } from "../binary/refusal.ts";
import { abiShapes, type InterfaceShapes } from "./abi-shapes.ts";
import type { ExternItem, FunctionItem, TypeExport } from "./items.ts";
import { Shapes, type FunctionShape } from "./shapes.ts";

interface AbiName {
  readonly interface: string;
  readonly version: string;
}

interface KnownInterfaces {
  readonly shapes: Shapes;
  readonly of: (abi: AbiVersion) => ReadonlyMap<string, InterfaceShapes>;
}

let interned: KnownInterfaces | undefined;

// The ABI's types are interned once for all components.
function knownInterfaces(): KnownInterfaces {
  if (interned !== undefined) return interned;
  const shapes = new Shapes();
  const interfaces = new Map(Object.values(abiVersions).map((abi) => [abi, abiShapes(abi.model, shapes)] as const));
  interned = { shapes, of: (abi) => interfaces.get(abi) ?? new Map() };
  return interned;
}

/** Compares one component with the ABI version in the names of its imports and exports. */
export class HostInterfaces {
  readonly shapes: Shapes;
  readonly #known: KnownInterfaces;
  #used: { readonly abi: AbiVersion; readonly interfaces: ReadonlyMap<string, InterfaceShapes> } | undefined;

  constructor() {
    this.#known = knownInterfaces();
    this.shapes = new Shapes(this.#known.shapes);
  }

  /** The ABI version of the component. Refuses a component without such a name. */
  get abi(): AbiVersion {
    return this.#used?.abi ?? refuse(`a component that exports no ${exportNames()}`);
  }

  /** Checks an imported instance: the interface may be imported, and its functions and types are the ABI's. */
  checkImport(name: string, exports: ReadonlyMap<string, TypeExport>, at: number): void {
    const parsed = parse(name);
    const valid = Object.values(abiVersions).flatMap(({ package: pkg, version, importable }) =>
      importable.map((it) => `${pkg}/${it}@${version}`),
    );
    if (parsed === undefined)
      refuse(`import "${name}" is not one that a delegate may have${suggestion(name, valid)} (valid: ${valid.join(", ")})`, at);
    const { abi, interfaces } = this.#useVersion(parsed, at);
    const contents = abi.importable.includes(parsed.interface) ? interfaces.get(parsed.interface) : undefined;
    if (contents === undefined)
      refuse(`import "${name}" does not exist in ABI ${abi.version}${suggestion(name, valid)} (valid: ${valid.join(", ")})`, at);
    for (const [key, found] of exports) {
      const what = `"${key}" of import "${name}"`;
      if (found.sort === "func") {
        const known = contents.functions.get(key);
        if (known === undefined)
          refuse(`${what} is not a function of the ABI (valid: ${[...contents.functions.keys()].join(", ")})`, at);
        this.#requireFunction(what, found.type, known, at);
      } else {
        const known = contents.types.get(key);
        if (known === undefined) refuse(`${what} is not a type of the ABI`, at);
        if (found.type.kind !== "value" || found.type.shape !== known) {
          const shown = found.type.kind === "value" ? this.shapes.describe(found.type.shape) : `a ${found.type.kind}`;
          refuse(`${what} has the type ${shown}; the ABI has ${this.shapes.describe(known)}`, at);
        }
      }
    }
  }

  /** Checks the exported interface. Answers its functions, which are all functions of the ABI's interface. */
  checkExport(name: string, item: ExternItem, at: number): ReadonlyMap<string, FunctionItem & { readonly from: "lift" }> {
    const parsed = parse(name);
    if (parsed === undefined) refuse(`export "${name}" is not one that a delegate may have (valid: ${exportNames()})`, at);
    const { abi, interfaces } = this.#useVersion(parsed, at);
    if (parsed.interface !== abi.exported)
      refuse(`export "${name}" is not one that a delegate may have (valid: ${exportNames()})`, at);
    if (item.sort !== "instance") refuse(`export "${name}" is a ${item.sort}, not an instance`, at);
    const functions = new Map<string, FunctionItem & { readonly from: "lift" }>();
    for (const [key, known] of interfaces.get(abi.exported)?.functions ?? []) {
      const found = item.instance.export(key);
      if (found?.sort !== "func") refuse(`export "${name}" lacks the function "${key}"`, at);
      if (found.func.from !== "lift") refuse(`"${key}" of export "${name}" is not implemented by the component`, at);
      this.#requireFunction(`"${key}" of export "${name}"`, found.func.type, known, at);
      functions.set(key, found.func);
    }
    return functions;
  }

  #requireFunction(what: string, found: FunctionShape, known: FunctionShape, at: number): void {
    const { shapes } = this;
    if (shapes.func(found) === shapes.func(known)) return;
    refuse(`${what} has the type ${shapes.describe(shapes.func(found))}; the ABI has ${shapes.describe(shapes.func(known))}`, at);
  }

  #useVersion(name: AbiName, at: number) {
    const abi = abiVersions[name.version];
    if (abi === undefined) {
      return refuse(`ABI version ${name.version} is not supported (supported: ${Object.keys(abiVersions).join(", ")})`, at);
    }
    this.#used ??= { abi, interfaces: this.#known.of(abi) };
    if (this.#used.abi !== abi) refuse(`two ABI versions in one component: ${this.#used.abi.version} and ${name.version}`, at);
    return this.#used;
  }
}

function parse(name: string): AbiName | undefined {
  const match = /^cni:delegate\/([a-z][a-z0-9-]*)@(\d{1,5}\.\d{1,5}\.\d{1,5})$/.exec(name);
  return match?.[1] === undefined || match[2] === undefined ? undefined : { interface: match[1], version: match[2] };
}

function exportNames(): string {
  return Object.values(abiVersions)
    .map(({ package: pkg, exported, version }) => `${pkg}/${exported}@${version}`)
    .join(", ");
}

function suggestion(name: string, valid: readonly string[]): string {
  if (name.startsWith("wasi:")) return ": delegates have no WASI";
  const meant = closest(name, valid);
  return meant === undefined ? "" : `; "${meant}" was probably meant`;
}
