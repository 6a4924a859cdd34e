// Builds a component from a fixture's few lines of WAT and adds the exports of a delegate that the fixture lacks. Comment lines at the top of
// a file have its description and the expected verdict.

import { componentEmbed, componentNew, parse } from "@bytecodealliance/jco";
import { readFileSync } from "node:fs";
import { replaceCoreModule, withSection } from "./sections.ts";

const here = new URL("./wat/", import.meta.url);
const witSource = readFileSync(new URL("../../../wit/1.0.0/delegate.wit", import.meta.url), "utf8");
const plugin = "cni:delegate/plugin@1.0.0";

/** A fixture's description, its header fields, and its source. */
export interface WatHead {
  readonly about: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly source: string;
}

/** Reads `wat/<name>.wat`. */
export function readWat(name: string): WatHead {
  const source = readFileSync(new URL(`${name}.wat`, here), "utf8");
  const comments = source.split("\n").filter((line) => line.startsWith(";; "));
  const headers = Object.fromEntries(
    comments.slice(1).flatMap((line) => {
      const [, key, value] = /^;; ([a-z]+): (.*)$/.exec(line) ?? [];
      return key === undefined || value === undefined ? [] : [[key, value]];
    }),
  );
  return { about: comments[0]?.slice(3) ?? "", headers, source };
}

const defaults: readonly (readonly [mark: string, text: string])[] = [
  ['(export "memory")', '(memory (export "memory") 1)'],
  [
    '(export "cabi_realloc")',
    `(global $next (mut i32) (i32.const 8192))
     (func (export "cabi_realloc") (param $old i32) (param $size i32) (param $align i32) (param $wanted i32) (result i32)
       (local $at i32)
       (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
       (global.set $next (i32.add (local.get $at) (local.get $wanted)))
       (local.get $at))`,
  ],
  ...["add", "del", "check"].map((verb): readonly [string, string] => {
    const name = `(export "${plugin}#${verb}")`;
    return [name, `(func ${name} (param i32) (result i32) (i32.const 1024))`];
  }),
  [
    `(export "${plugin}#gc")`,
    `(func (export "${plugin}#gc") (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32) (i32.const 1024))`,
  ],
  [
    `(export "${plugin}#status")`,
    `(func (export "${plugin}#status") (param i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32) (i32.const 1024))`,
  ],
];

/** The core module of a fixture's source. */
export async function coreModuleOf(source: string): Promise<Uint8Array> {
  const missing = defaults.filter(([mark]) => !source.includes(mark)).map(([, text]) => text);
  return parse(`(module\n${source}\n${missing.join("\n")})`);
}

/** A component of the world `delegate`, or of another WIT and world. */
export async function componentOf(core: Uint8Array, wit: string = witSource, world = "delegate"): Promise<Uint8Array> {
  return componentNew(await componentEmbed({ binary: core, witSource: wit, world }), []);
}

/** The WIT of the ABI, which fixtures change. */
export const abiWit: string = witSource;

/** Adds a delegate declaration with these capabilities. */
export function declared(component: Uint8Array, name: string, capabilities: readonly string[]): Uint8Array {
  const declaration = {
    name,
    abi: "1.0.0",
    version: "0.1.0",
    about: "A fixture.",
    cniVersions: ["1.0.0", "1.1.0"],
    capabilities: Object.fromEntries(capabilities.map((capability) => [capability, "The test needs it."])),
  };
  return withSection(component, "plexus:delegate", Buffer.from(JSON.stringify(declaration)));
}

/** Builds the component of a fixture's file. */
export async function buildWat(name: string): Promise<Uint8Array> {
  const { headers, source } = readWat(name);
  const core = await coreModuleOf(source);
  // `via: swap` marks a core module that jco refuses. The module replaces that of a valid component.
  const component =
    headers["via"] === "swap"
      ? replaceCoreModule(await componentOf(await coreModuleOf(readWat(headers["base"] ?? "good").source)), core)
      : await componentOf(core);
  return declared(component, name, (headers["declares"] ?? "log,leases").split(","));
}
